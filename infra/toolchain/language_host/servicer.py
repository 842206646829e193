"""The LanguageRuntime service: what the engine asks of a language host."""

from __future__ import annotations

import platform
import subprocess
from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Any, NoReturn

from google.protobuf.json_format import MessageToDict

from toolchain.language_host import environments, options, packages, plugin, program, streams
from toolchain.language_host.children import Cancelled, Child, Children
from toolchain.language_host.protocol import empty_pb2, grpc, language_pb2, language_pb2_grpc, plugin_pb2

_NO_DEBUGGER = "--attach-debugger: is not supported by Tandem's language host. Run the program without it."


class LanguageHost(language_pb2_grpc.LanguageRuntimeServicer):
    """Runs Python programs for the engine at `engine` (host:port)."""

    def __init__(self, engine: str, children: Children) -> None:
        self._engine = engine
        self._children = children

    def Handshake(self, request: Any, context: Any) -> Any:
        """The engine names its address."""
        self._engine = request.engine_address or self._engine
        return language_pb2.LanguageHandshakeResponse()

    def GetPluginInfo(self, request: Any, context: Any) -> Any:
        """The host has no version of its own: it belongs to the toolchain."""
        return plugin_pb2.PluginInfo()

    def GetRequiredPackages(self, request: Any, context: Any) -> Any:
        """The provider plugins that the installed SDKs ask for."""
        found = packages.required_plugins(_environment(request.info, context))
        return language_pb2.GetRequiredPackagesResponse(
            packages=[
                plugin_pb2.PackageDependency(name=item.name, kind="resource", version=item.version, server=item.server)
                for item in found
            ]
        )

    def GetRequiredPlugins(self, request: Any, context: Any) -> Any:
        """The same, for engines that do not know packages."""
        found = packages.required_plugins(_environment(request.info, context))
        return language_pb2.GetRequiredPluginsResponse(
            plugins=[
                plugin_pb2.PluginDependency(name=item.name, kind="resource", version=item.version, server=item.server)
                for item in found
            ]
        )

    def Run(self, request: Any, context: Any) -> Any:
        """Run a program. Its failure is an answer, not an error of the call."""
        if request.attach_debugger:
            return language_pb2.RunResponse(error=_NO_DEBUGGER)
        try:
            environment = environments.of(_options(request.info))
            if checker := environment.options.typechecker:
                code = self._wait(program.start_type_checker(checker, environment, self._children), context)
                if code:
                    return language_pb2.RunResponse(error=f"{checker} found faults (exit status {code})")
            code = self._wait(program.start(request, self._engine, environment, self._children), context)
        except (options.OptionError, environments.NoEnvironment) as error:
            return language_pb2.RunResponse(error=str(error))
        except Cancelled:
            return language_pb2.RunResponse(bail=True)
        if code == 0:
            return language_pb2.RunResponse()
        # A program that was stopped on request, or has shown its error, needs no second message.
        if code == program.ALREADY_REPORTED or self._children.stopped:
            return language_pb2.RunResponse(bail=True)
        if code < 0:
            return language_pb2.RunResponse(error=f"Program was ended by signal {-code}")
        return language_pb2.RunResponse(error=f"Program exited with non-zero exit code: {code}")

    def RunPlugin(self, request: Any, context: Any) -> Iterator[Any]:
        """Run a policy pack or plugin until it ends or the engine hangs up, handing its output over as it comes."""
        if request.attach_debugger:
            _refuse(context, _NO_DEBUGGER)
        environment = _environment(request.info, context)
        try:
            argv = plugin.command(request, environment)
        except environments.NoEnvironment as error:
            _refuse(context, str(error))
        variables = plugin.variables(request, environment)
        try:
            with self._children.start(argv, cwd=request.pwd or None, env=variables, capture=True) as child:
                self._end_with_call(child, context)
                for stream, chunk in streams.output(child):
                    yield _plugin_output(stream, chunk)
                yield language_pb2.RunPluginResponse(exitcode=child.wait())
        except Cancelled:
            context.abort(grpc.StatusCode.CANCELLED, "the engine has cancelled")

    def InstallDependencies(self, request: Any, context: Any) -> Iterator[Any]:
        """Make the program's environment, handing the tools' output over as it comes."""
        environment = _environment(request.info, context)
        try:
            steps = environment.installation()
        except environments.NoEnvironment as error:
            _refuse(context, str(error))
        for step in steps:
            yield language_pb2.InstallDependenciesResponse(stdout=f"{step.announcement}\n".encode())
            try:
                with self._children.start(
                    step.argv, cwd=step.cwd, env=environment.environment(), capture=True
                ) as child:
                    self._end_with_call(child, context)
                    for stream, chunk in streams.output(child):
                        yield language_pb2.InstallDependenciesResponse(**{stream: chunk})
                    code = child.wait()
            except Cancelled:
                context.abort(grpc.StatusCode.CANCELLED, "the engine has cancelled")
            if code:
                _refuse(context, f"{' '.join(step.argv)}: exit status {code}")
        yield language_pb2.InstallDependenciesResponse(stdout=b"Finished installing dependencies\n")

    def About(self, request: Any, context: Any) -> Any:
        """Which Python and which tool, for `pulumi about`."""
        environment = _environment(request.info, context)
        try:
            python = environment.python()
            asked = [python, "-I", "-c", "import platform; print(platform.python_version())"]
            version = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
        except environments.NoEnvironment as error:
            _refuse(context, str(error))
        metadata = {"toolchain": environment.tool, "languageHost": f"Tandem, on Python {platform.python_version()}"}
        return language_pb2.AboutResponse(executable=python, version=version, metadata=metadata)

    def GetProgramDependencies(self, request: Any, context: Any) -> Any:
        """Installed distributions, for `pulumi about`."""
        environment = _environment(request.info, context)
        try:
            found = list(packages.distributions(environment, transitive=request.transitiveDependencies))
        except environments.NoEnvironment as error:
            _refuse(context, str(error))
        return language_pb2.GetProgramDependenciesResponse(
            dependencies=[language_pb2.DependencyInfo(name=name, version=version) for name, version in found]
        )

    def RuntimeOptionsPrompts(self, request: Any, context: Any) -> Any:
        """What `pulumi new` asks: the toolchain, where the template does not name one."""
        if "toolchain" in request.info.options.fields:
            return language_pb2.RuntimeOptionsResponse()
        prompt = language_pb2.RuntimeOptionPrompt
        choices = [prompt.RuntimeOptionValue(stringValue=name, displayName=name) for name in options.TOOLCHAINS]
        question = prompt(
            key="toolchain", description="The toolchain to use for installing dependencies", choices=choices
        )
        question.default.stringValue = options.TOOLCHAINS[0]
        question.default.displayName = options.TOOLCHAINS[0]
        return language_pb2.RuntimeOptionsResponse(prompts=[question])

    def Cancel(self, request: Any, context: Any) -> Any:
        """Stop everything that runs."""
        self._children.stop_all()
        return empty_pb2.Empty()

    def _wait(self, starting: AbstractContextManager[Child], context: Any) -> int:
        """Exit code of a child that lives no longer than the call."""
        with starting as child:
            self._end_with_call(child, context)
            return child.wait()

    def _end_with_call(self, child: Child, context: Any) -> None:
        """The engine stops a call by hanging up, while its thread waits for the child."""
        if not context.add_callback(lambda: self._children.end(child)):
            self._children.end(child)


def _plugin_output(stream: str, chunk: bytes) -> Any:
    response = language_pb2.RunPluginResponse()
    setattr(response, stream, chunk)
    return response


def _options(info: Any) -> options.Options:
    return options.read(info.root_directory, info.program_directory, MessageToDict(info.options))


def _environment(info: Any, context: Any) -> environments.PythonEnvironment:
    """The program's environment, or the call fails with a message for people."""
    try:
        return environments.of(_options(info))
    except (options.OptionError, environments.NoEnvironment) as error:
        _refuse(context, str(error))


def _refuse(context: Any, message: str) -> NoReturn:
    context.abort(grpc.StatusCode.FAILED_PRECONDITION, message)
    raise AssertionError("abort raises")
