"""Reads the flags of an SGLang release out of its wheel and writes `data/engine_flags.json`.

    python -m tandem.facts.engine_flags_generate --wheel sglang-0.5.23-*.whl
    python -m tandem.facts.engine_flags_generate            # has pip fetch the pinned wheel first

Nothing of the wheel is imported or run: its sources are read with `ast`, so neither torch nor a GPU is needed. Most flags are
annotated class fields (`srt/arg_groups/fields/*.py`); the rest are `parser.add_argument` calls in `srt/server_args.py`, whose
choices are lists that other modules of the wheel hold. A shape that this reader does not know is an error, never a guess.
"""

from __future__ import annotations

import argparse
import ast
import json
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from tandem.errors import TandemError

SGLANG_VERSION = "0.5.23"
ROOT = Path(__file__).resolve().parents[3]
OUTPUTS = (
    Path(__file__).with_name("data") / "engine_flags.json",
    # An image is built from its own folder alone, so the simulated engine carries a copy. A test compares the two.
    ROOT / "images" / "engine-sim" / "engine_sim" / "data" / "engine_flags.json",
)
JSON_PARSERS = {"json.loads", "json_list_type", "parse_cuda_graph_config_arg"}
TEXT_PARSERS = {"nullable_str", "parse_cuda_graph_backend_arg"}
ENUM_NAMES = {
    "[m.name.lower() for m in _real_kv_hash_modes()]": ("sglang.kernels.ops.kv_canary.consts", "RealKvHashMode")
}
CALLED_NAMES = {
    "_reasoning_parser_choices": ("sglang.srt.parser.reasoning_parser_names", "REASONING_PARSER_NAMES"),
    "_tool_call_parser_choices": ("sglang.srt.function_call.parser_names", "TOOL_CALL_PARSER_NAMES"),
}


class UnknownShape(TandemError):
    """The wheel declares a flag in a way that this reader does not know."""


class Wheel:
    """The Python sources inside a wheel, parsed on demand."""

    def __init__(self, path: Path) -> None:
        self._archive = zipfile.ZipFile(path)
        self._names = set(self._archive.namelist())
        self._trees: dict[str, ast.Module] = {}

    def modules(self, package: str) -> list[str]:
        """The modules directly inside a package, sorted."""
        prefix = package.replace(".", "/") + "/"
        stems = (name[len(prefix) :] for name in self._names if name.startswith(prefix) and name.endswith(".py"))
        return sorted(f"{package}.{stem[:-3]}" for stem in stems if "/" not in stem and stem != "__init__.py")

    def tree(self, module: str) -> ast.Module:
        """The parsed source of a module. Raises `UnknownShape` if the wheel lacks it."""
        if module not in self._trees:
            base = module.replace(".", "/")
            path = next((p for p in (f"{base}.py", f"{base}/__init__.py") if p in self._names), None)
            if path is None:
                raise UnknownShape(f"sglang wheel: {module} - is imported by a flag's declaration but not in the wheel")
            self._trees[module] = ast.parse(self._archive.read(path))
        return self._trees[module]

    def value(self, module: str, node: ast.expr) -> Any:
        """Evaluates an expression of literals, sums and names that lead to literals somewhere in the wheel."""
        try:
            return ast.literal_eval(node)
        except ValueError:
            pass
        match node:
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                return list(self.value(module, left)) + list(self.value(module, right))
            case ast.BinOp(left=left, op=ast.Mult(), right=right):
                return self.value(module, left) * self.value(module, right)
            case ast.Name(id=name):
                return self.named(module, name)
            case ast.Attribute(value=ast.Name(id=owner), attr=attribute):
                return self._class_attribute(module, owner, attribute)
            case ast.Call(func=ast.Name(id="set" | "frozenset" | "list" | "tuple"), args=[inner]):
                return self.value(module, inner)
            case ast.Call(func=ast.Name(id=name)) if name in CALLED_NAMES:
                return list(self.named(*CALLED_NAMES[name]))
            case ast.List(elts=elements) | ast.Tuple(elts=elements) | ast.Set(elts=elements):
                return [self.value(module, element) for element in elements]
        text = ast.unparse(node)
        if text in ENUM_NAMES:
            enum_module, enum = ENUM_NAMES[text]
            body = self._class(enum_module, enum).body
            return [
                t.id.lower() for n in body if isinstance(n, ast.Assign) for t in n.targets if isinstance(t, ast.Name)
            ]
        raise UnknownShape(
            f"{module}: {text} - is not an expression this reader knows; teach {Path(__file__).name} about it"
        )

    def named(self, module: str, name: str) -> Any:
        """The value of a module-level name, or of a local one, followed through imports."""
        tree = self.tree(module)
        for node in ast.walk(tree):
            if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == name for t in node.targets):
                return self.value(module, node.value)
            if (
                isinstance(node, ast.AnnAssign)
                and isinstance(node.target, ast.Name)
                and node.target.id == name
                and node.value
            ):
                return self.value(module, node.value)
        origin = self._imported_from(tree, name)
        if origin is None:
            raise UnknownShape(f"{module}: {name} - is neither assigned nor imported there")
        return self.named(*origin)

    @staticmethod
    def _imported_from(tree: ast.Module, name: str) -> tuple[str, str] | None:
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module:
                for alias in node.names:
                    if (alias.asname or alias.name) == name:
                        return node.module, alias.name
        return None

    def _class(self, module: str, name: str) -> ast.ClassDef:
        tree = self.tree(module)
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and node.name == name:
                return node
        origin = self._imported_from(tree, name)
        if origin is None:
            raise UnknownShape(f"{module}: class {name} - is neither defined nor imported there")
        return self._class(*origin)

    def _class_attribute(self, module: str, owner: str, attribute: str) -> Any:
        body = self._class(module, owner)
        constants = {
            target.id: node.value
            for node in body.body
            if isinstance(node, ast.Assign)
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        value = constants[attribute]
        if isinstance(value, ast.List | ast.Tuple):
            return [
                ast.literal_eval(constants[e.id]) if isinstance(e, ast.Name) else ast.literal_eval(e)
                for e in value.elts
            ]
        return ast.literal_eval(value)


def _keywords(call: ast.Call) -> dict[str, ast.expr]:
    return {k.arg: k.value for k in call.keywords if k.arg is not None}


def _record(flag: str, **fields: Any) -> dict[str, Any]:
    """One flag as it stands in the table; keys that say nothing are left out to keep the file readable."""
    record: dict[str, Any] = {"flag": flag, **fields}
    return {k: v for k, v in record.items() if v not in (None, [], False) or k == "default"}


def _scalar(annotation: ast.expr) -> str:
    return {"int": "int", "float": "float", "str": "str", "bool": "bool"}.get(ast.unparse(annotation), "str")


def _unwrap_optional(annotation: ast.expr) -> ast.expr:
    if isinstance(annotation, ast.Subscript) and ast.unparse(annotation.value) == "Optional":
        return annotation.slice
    return annotation


def _from_field(wheel: Wheel, module: str, field: ast.AnnAssign) -> dict[str, Any] | None:
    """A flag from `name: A[type, "help" | Arg(...)] = default`; None where the field has no flag."""
    annotation = field.annotation
    if not (isinstance(annotation, ast.Subscript) and ast.unparse(annotation.value) == "A"):
        return None
    if not (isinstance(field.target, ast.Name) and isinstance(annotation.slice, ast.Tuple)):
        raise UnknownShape(f"{module}: {ast.unparse(field)[:80]} - is not a field declaration this reader knows")
    declared, *metadata = annotation.slice.elts
    call = next((m for m in metadata if isinstance(m, ast.Call)), None)
    meta = _keywords(call) if call is not None else {}
    if "no_cli" in meta and wheel.value(module, meta["no_cli"]):
        return None
    name = field.target.id
    flag = wheel.value(module, meta["cli_name"]) if "cli_name" in meta else "--" + name.replace("_", "-")
    aliases = wheel.value(module, meta["aliases"]) if "aliases" in meta else []
    choices = list(wheel.value(module, meta["choices"])) if "choices" in meta else None
    nargs = wheel.value(module, meta["nargs"]) if "nargs" in meta else None
    default: Any = None
    if isinstance(field.value, ast.Call):
        default = []  # the only factory in use is `list`
    elif field.value is not None:
        default = wheel.value(module, field.value)
    inner = _unwrap_optional(declared)
    parser = ast.unparse(meta["type_parser"]) if "type_parser" in meta else None
    action = "store"
    if parser is not None:
        if parser in JSON_PARSERS:
            kind = "json"
        elif parser in TEXT_PARSERS:
            kind = "str"
        elif parser == "human_readable_int":
            kind = "human_int"
        else:
            raise UnknownShape(f"{module}: {flag} is parsed by {parser} - which this reader does not know")
    elif isinstance(inner, ast.Subscript) and ast.unparse(inner.value) == "Literal":
        values = inner.slice.elts if isinstance(inner.slice, ast.Tuple) else [inner.slice]
        literals = [ast.literal_eval(v) for v in values]
        kind = "int" if isinstance(literals[0], int) else "str"
        choices = choices or literals
    elif isinstance(inner, ast.Subscript) and ast.unparse(inner.value) == "List":
        kind, nargs = _scalar(inner.slice), nargs or "+"
    elif ast.unparse(inner) == "bool":
        kind, action = "bool", "store_true"
    else:
        kind = _scalar(inner)
    if "action" in meta:
        custom = ast.unparse(meta["action"])
        extra = meta.get("action_kwargs")
        if custom == "argparse.BooleanOptionalAction":
            action = "boolean_optional"
        elif extra is not None:
            pairs = dict(zip((ast.literal_eval(k) for k in extra.keys if k), extra.values, strict=True))  # type: ignore[attr-defined]
            kind, nargs = ast.unparse(pairs["type"]), ast.literal_eval(pairs["nargs"])
        else:
            nargs = "*"
    return _record(
        flag,
        field=name,
        aliases=aliases,
        type=kind,
        action=action,
        nargs=nargs,
        choices=choices,
        default=default,
        required=field.value is None,
        group=module.rsplit(".", 1)[-1].rstrip("_"),
    )


def _from_calls(wheel: Wheel, module: str) -> Iterator[dict[str, Any]]:
    """The flags that are added by hand, with choices that are only known when the parser is built."""
    function = next(
        node
        for node in ast.walk(wheel.tree(module))
        if isinstance(node, ast.FunctionDef) and node.name == "add_cli_args"
    )
    for call in (n for n in ast.walk(function) if isinstance(n, ast.Call)):
        if not (isinstance(call.func, ast.Attribute) and call.func.attr == "add_argument"):
            continue
        flag, *aliases = [ast.literal_eval(a) for a in call.args]
        meta = _keywords(call)
        action = ast.unparse(meta["action"]) if "action" in meta else "store"
        deprecated = action.startswith("Deprecated")
        valued = "nargs" in meta and ast.literal_eval(meta["nargs"]) is None
        if deprecated or action == "'store_true'":
            action = "store" if valued else "store_true"
        name = ast.literal_eval(meta["dest"]) if "dest" in meta else flag.lstrip("-").replace("-", "_")
        default: Any = None
        if "default" in meta:
            value = meta["default"]
            is_declared = isinstance(value, ast.Call) and ast.unparse(value.func) == "_declared_default"
            default = _declared_default(wheel, name) if is_declared else ast.literal_eval(value)
        elif action == "store_true":
            default = False
        yield _record(
            flag,
            field=name,
            aliases=aliases,
            type="bool" if action == "store_true" else "str",
            action=action,
            choices=list(dict.fromkeys(wheel.value(module, meta["choices"]))) if "choices" in meta else None,
            default=default,
            replacement=ast.literal_eval(meta["new_flag"]) if "new_flag" in meta else None,
            group="dynamic",
        )


def _declared_default(wheel: Wheel, name: str) -> Any:
    for module in wheel.modules("sglang.srt.arg_groups.fields"):
        for owner in (n for n in wheel.tree(module).body if isinstance(n, ast.ClassDef)):
            for field in (n for n in owner.body if isinstance(n, ast.AnnAssign)):
                if isinstance(field.target, ast.Name) and field.target.id == name and field.value is not None:
                    return wheel.value(module, field.value)
    raise UnknownShape(f"{name} - has no declared default in the wheel")


def read_flags(path: Path) -> list[dict[str, Any]]:
    """Every flag of the wheel's `sglang serve`, sorted by name.

    Raises `UnknownShape` if a declaration cannot be understood: a new release may need this reader to learn.
    """
    wheel = Wheel(path)
    records: dict[str, dict[str, Any]] = {}
    for module in wheel.modules("sglang.srt.arg_groups.fields"):
        for owner in (n for n in wheel.tree(module).body if isinstance(n, ast.ClassDef)):
            for field in (n for n in owner.body if isinstance(n, ast.AnnAssign)):
                record = _from_field(wheel, module, field)
                if record is not None:
                    records[record["flag"]] = record
    for record in _from_calls(wheel, "sglang.srt.server_args"):
        records[record["flag"]] = record
    for record in records.values():
        if record.get("choices"):
            # A set in the source has no order of its own; sorted, two runs write the same file.
            record["choices"] = sorted(record["choices"], key=lambda c: (c is not None, str(type(c)), str(c)))
    return [records[name] for name in sorted(records)]


def _download(folder: Path) -> Path:
    command = [
        sys.executable,
        "-m",
        "pip",
        "download",
        "--quiet",
        "--no-deps",
        "--dest",
        str(folder),
        f"sglang=={SGLANG_VERSION}",
    ]
    subprocess.run(command, check=True)
    return next(folder.glob("sglang-*.whl"))


def main(argv: Sequence[str] | None = None) -> int:
    """Writes the table. Exit code 0, or that of the `TandemError` that stopped it."""
    parser = argparse.ArgumentParser(prog="python -m tandem.facts.engine_flags_generate", description=__doc__)
    parser.add_argument("--wheel", type=Path, help=f"the wheel of sglang {SGLANG_VERSION}; without it pip downloads it")
    parser.add_argument(
        "--check", action="store_true", help="write nothing; exit 1 if a table is not what would be written"
    )
    options = parser.parse_args(argv)
    try:
        with tempfile.TemporaryDirectory() as folder:
            wheel = options.wheel or _download(Path(folder))
            version = wheel.name.split("-")[1]
            if version != SGLANG_VERSION:
                raise TandemError(
                    f"--wheel: {wheel.name} - the pin is {SGLANG_VERSION}. Give that wheel, or move the pin here first."
                )
            flags = read_flags(wheel)
    except TandemError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    table = {
        "source": f"{wheel.name}, read by tandem.facts.engine_flags_generate",
        "date": "2026-12-01",
        "version": version,
        "flags": flags,
    }
    lines = ",\n".join(json.dumps(flag, sort_keys=False) for flag in flags)
    head = json.dumps({**table, "flags": None}, indent=1).removesuffix("null\n}")
    text = f"{head}[\n{lines}\n]}}\n"
    stale = [path for path in OUTPUTS if not path.exists() or path.read_text() != text]
    if options.check:
        for path in stale:
            print(
                f"{path.relative_to(ROOT)}: differs from the wheel. Run this command without --check.", file=sys.stderr
            )
        return 1 if stale else 0
    for path in OUTPUTS:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        print(f"{path.relative_to(ROOT)}: {len(flags)} flags of sglang {version}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
