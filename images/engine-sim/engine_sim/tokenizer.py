"""The tokenizer of the simulation, `tandem-word6`: a word with its leading space, cut into pieces of at most 6 bytes of UTF-8.

It needs no vocabulary and is reversible: a piece's id is its bytes behind a marker byte, read as a number (below 2^49, so exact in
JSON). English text comes to about 1.4 tokens a word, close to real tokenizers. Ids below 256 are control tokens. Ids that a client
sends and that no text produces are accepted (they count and are hashed) and read as U+FFFD.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Any

NAME = "tandem-word6"
END = 2
"""Id of the end-of-text token."""
PIECE_BYTES = 6
WORD = re.compile(r" ?\w+| ?[^\w\s]+|\s+", re.UNICODE)


def _pieces(word: str) -> Iterable[bytes]:
    piece = b""
    for character in word:
        encoded = character.encode("utf-8", "surrogatepass")
        if len(piece) + len(encoded) > PIECE_BYTES:
            yield piece
            piece = b""
        piece += encoded
    if piece:
        yield piece


def encode(text: str) -> list[int]:
    """The token ids of a text."""
    return [int.from_bytes(b"\x01" + piece) for word in WORD.findall(text) for piece in _pieces(word)]


def decode(ids: Sequence[int]) -> str:
    """The text of token ids; control tokens vanish."""
    parts = []
    for token in ids:
        if token < 256:
            continue
        raw = token.to_bytes((token.bit_length() + 7) // 8)
        parts.append(raw[1:].decode("utf-8", "replace") if raw[0] == 1 and len(raw) <= PIECE_BYTES + 1 else "\ufffd")
    return "".join(parts)


class BadPrompt(Exception):
    """A request's prompt or messages cannot be read. Becomes a 400."""


def chat_prompt(messages: Any) -> str:
    """The prompt of a conversation: each message behind a role mark, and an open mark for the assistant's turn."""
    if not isinstance(messages, list) or not messages:
        raise BadPrompt("Messages cannot be empty.")
    parts = []
    for message in messages:
        if not isinstance(message, dict) or not isinstance(message.get("role"), str):
            raise BadPrompt("Each message must be an object with a role.")
        content = message.get("content")
        if isinstance(content, list):
            content = "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
        parts.append(f"<|{message['role']}|>\n{content or ''}\n")
    return "".join(parts) + "<|assistant|>\n"
