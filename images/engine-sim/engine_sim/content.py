"""What the simulated KV holds, and what is answered from it.

The KV of token i is a 64-byte state, repeated over the bytes that the model's shape gives a token:

    state(0) = hash(salt),   state(i) = hash(state(i-1), token(i))

so it depends on every token before it, as attention's does. The answer is a function of the states alone. Decode reads the states
out of the memory that prefill wrote into: had other bytes arrived, other words would come out.
"""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Iterator, Sequence

from engine_sim import tokenizer

STATE_BYTES = 64
WORDS = tuple(
    """
    a able about above across after again all also among and any are area as ask at away back base be
    been begin best better both bring build but by call can case city clear close come cost could data
    day deep do door down each early earth east end even every eye face fact far fast few field fill
    find fine fire first five food for form four free from full game give go gold good great green group
    grow half hand hard have head hear heat help here high hold home hope hour house how idea if in into
    is it its join just keep kind king know lake land large last late lead learn least left less let
    life light like line list live long look low made main make many map mark may mean meet mind month
    moon more most move much music must name near need never new next night no north not note now of off
    often old on once one only open or order other our out over own page pair part pass past path plan
    plant play point port power press pull push quick quiet rain range reach read ready real rest right
    rise river road rock role room round rule run safe same sand say scale sea seem send set shape share
    ship short show side sign since sky slow small snow so some song soon sound south space speed stand
    star start state stay step still stone stop story such sun sure table take talk team tell ten test
    than that the them then there these thing think this those three time to token took top town trace
    tree true try turn two under until up use value very view voice wait walk wall want war warm watch
    water wave way we week well west what wheel when where which while white whole wide will wind wish
    with wood word work world would write year yes yet you young
    """.split()  # noqa: SIM905 - a list of words is read, not a list of strings
)
"""Words of at most 5 letters: with its space, each is one token."""
SHORTEST_ANSWER, LONGEST_ANSWER = 24, 160


def states(tokens: Sequence[int], salt: str = "") -> list[bytes]:
    """The state of every token of a prompt."""
    state = hashlib.blake2b(salt.encode(), digest_size=STATE_BYTES).digest()
    chain = []
    for token in tokens:
        state = hashlib.blake2b(state + token.to_bytes(16, "big", signed=True), digest_size=STATE_BYTES).digest()
        chain.append(state)
    return chain


def block_bytes(bytes_per_token: int, ranks: int, scale: float) -> int:
    """Bytes of one token's KV in one tensor-parallel rank, as they are really moved: whole states, at least one."""
    wanted = bytes_per_token * scale / ranks
    return max(1, round(wanted / STATE_BYTES)) * STATE_BYTES


def chunks(chain: Sequence[bytes], block: int, limit: int) -> Iterator[bytes]:
    """The KV of a prompt in one rank, cut at tokens into pieces of at most `limit` bytes (at least one token)."""
    tokens = max(1, limit // block)
    for start in range(0, len(chain), tokens):
        yield b"".join(state * (block // STATE_BYTES) for state in chain[start : start + tokens])


def read_states(memory: memoryview, tokens: int, block: int) -> list[bytes]:
    """The states that stand in a rank's part of received KV."""
    return [bytes(memory[i * block : i * block + STATE_BYTES]) for i in range(tokens)]


def checksum(data: bytes | memoryview, start: int = 1) -> int:
    """Adler-32, the real engine's choice for KV pages; `start` continues an earlier one."""
    return zlib.adler32(data, start)


class Answer:
    """The tokens that follow a prompt: always the same for the same KV."""

    def __init__(self, chain: Sequence[bytes]) -> None:
        digest = hashlib.blake2b(digest_size=32)
        for state in chain:
            digest.update(state)
        self._seed = digest.digest()
        self.length = SHORTEST_ANSWER + int.from_bytes(self._seed[:4]) % (LONGEST_ANSWER - SHORTEST_ANSWER)
        """Tokens before the model would end by itself."""
        self._sentence = 0

    def tokens(self) -> Iterator[int]:
        """Token ids without end; whoever reads decides where to stop."""
        index = 0
        while True:
            draw = int.from_bytes(hashlib.blake2b(self._seed + index.to_bytes(8), digest_size=8).digest())
            if self._sentence >= 5 and draw % 7 == 0:
                text, self._sentence = ".", 0
            else:
                word = WORDS[(draw >> 8) % len(WORDS)]
                text = word.capitalize() if self._sentence == 0 else word
                text = text if index == 0 else " " + text
                self._sentence += 1
            yield from tokenizer.encode(text)
            index += 1
