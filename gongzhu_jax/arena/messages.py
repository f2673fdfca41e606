"""Messages from clients: their form, checked. docs/arena.md explains them."""

import json
from collections.abc import Sequence
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from gongzhu_jax.arena.names import MOST_CHARACTERS, check_name
from gongzhu_jax.errors import ArenaError, CardError
from gongzhu_jax.game.cards import card_id

PROTOCOL = 1
_MOST_OF_AN_ERROR = 300  # characters


def _card(name: str) -> int:
    try:
        return card_id(name)
    except CardError as error:
        raise ValueError(str(error)) from None


Name = Annotated[str, Field(min_length=1, max_length=MOST_CHARACTERS), AfterValidator(check_name)]
TableId = Annotated[str, Field(min_length=1, max_length=32)]
Token = Annotated[str, Field(min_length=1, max_length=64)]
SeatNumber = Annotated[int, Field(ge=0, le=3)]
Stage = Annotated[int, Field(ge=0, le=51)]
Card = Annotated[str, Field(min_length=2, max_length=3), AfterValidator(_card)]
"""Text in the message; the id of the card once it is checked."""


class Message(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    id: Annotated[str, Field(max_length=32)] | int | None = None  # comes back in the answer


class Hello(Message):
    type: Literal["hello"]
    protocol: int
    name: Name
    token: Token | None = None  # of an account; needed if the name is registered
    turns_only: bool = False


class Create(Message):
    type: Literal["create"]
    seat: SeatNumber  # where the one who creates it sits
    seats: Annotated[
        list[Annotated[str, Field(max_length=32)] | None], Field(min_length=4, max_length=4)
    ]
    seconds: Annotated[float, Field(gt=0, le=86_400)] | None = None
    analysis: bool = False
    private: bool = False


class AtTable(Message):
    table: TableId
    seat: SeatNumber


class Sit(AtTable):
    type: Literal["sit"]
    invitation: Token | None = None  # of a private table


class Ready(AtTable):
    type: Literal["ready"]


class Play(AtTable):
    type: Literal["play"]
    stage: Stage
    card: Card


class Leave(AtTable):
    type: Literal["leave"]


class Reconnect(AtTable):
    type: Literal["reconnect"]
    token: Token


class Analyse(AtTable):
    type: Literal["analyse"]
    stage: Stage


class Available(Message):
    type: Literal["available"]
    games: Annotated[int, Field(ge=0, le=64)]
    challenges: bool = False  # whether others may start matches with it


class Ping(Message):
    type: Literal["ping"]


class FollowLobby(Message):
    type: Literal["lobby"]
    on: bool  # whether changes of the list of tables are wanted


class Watch(Message):
    type: Literal["watch"]
    table: TableId
    invitation: Token | None = None


class Unwatch(Message):
    type: Literal["unwatch"]


class Daily(Message):
    type: Literal["daily"]


AnyMessage = (
    Hello
    | Create
    | Sit
    | Ready
    | Play
    | Leave
    | Reconnect
    | Analyse
    | Available
    | Ping
    | FollowLobby
    | Watch
    | Unwatch
    | Daily
)
_ADAPTER: TypeAdapter[AnyMessage] = TypeAdapter(Annotated[AnyMessage, Field(discriminator="type")])


def id_of(text: str | bytes) -> str | int | None:
    """The id of a message that may be malformed otherwise, so that its sender knows which it is."""
    try:
        return TypeAdapter(Message).validate_python({"id": json.loads(text)["id"]}).id
    except (ValueError, TypeError, LookupError, RecursionError):
        return None


def parse(text: str | bytes) -> AnyMessage:
    """The message in a text; `ArenaError` "malformed" says what is wrong with it."""
    try:
        return _ADAPTER.validate_json(text)
    except ValidationError as error:
        errors = error.errors(include_url=False, include_input=False, include_context=False)
        raise ArenaError("malformed", first_error(errors)) from None
    except RecursionError:
        raise ArenaError("malformed", "nested too deeply") from None


def first_error(errors: Sequence[Any]) -> str:
    """Where and what is wrong, without what was sent."""
    where = ".".join(str(part) for part in errors[0]["loc"])
    text = f"{where}: {errors[0]['msg']}" if where else str(errors[0]["msg"])
    return text[:_MOST_OF_AN_ERROR].encode("utf-8", "replace").decode()
