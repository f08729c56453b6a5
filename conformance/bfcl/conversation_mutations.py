"""Trials of BFCL's conversations, right and wrong, by the thousand: right calls, changed by chance from a seed."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import Any

from wieldy.evals.bfcl.conversations.data import BfclConversation
from wieldy.evals.bfcl.conversations.written import Written, read_call

Turns = list[list[list[str]]]
"""For each turn the replies with calls, each with its calls, written as Python."""


class ConversationMutations:
    """Endless changed trials; the same seed gives the same ones."""

    def __init__(self, seed: int, conversations: Sequence[BfclConversation]) -> None:
        self.chance = random.Random(seed)
        self._calls = dict[str, list[Written]]()
        for each in conversations:
            world = each.world()
            for text in (call for turn in each.turns for call in turn.calls):
                call = read_call(text)
                self._calls.setdefault(world.service_of[call.name], []).append(call)

    def changed(self, conversation: BfclConversation) -> tuple[Turns, tuple[str, ...]]:
        """A trial with up to three changes, and their kinds."""
        turns = [[_written(read_call(call)) for call in turn.calls] for turn in conversation.turns]
        kinds = tuple(self.chance.choice(list(_KINDS)) for _ in range(self.chance.choice((0, 1, 1, 1, 1, 2, 3))))
        for kind in kinds:
            _KINDS[kind](self, turns, conversation)
        return [self._in_replies(calls) for calls in turns], kinds

    def _in_replies(self, calls: list[str]) -> list[list[str]]:
        """All at once, one by one, or anything between."""
        if not calls:
            return self.chance.choice(([], [], [], [[]]))
        way = self.chance.random()
        replies, at = list[list[str]](), 0
        while at < len(calls):
            size = len(calls) if way < 0.3 else 1 if way < 0.6 else self.chance.randint(1, len(calls))
            replies.append(calls[at : at + size])
            at += size
        return replies

    def _place(self, turns: list[list[str]]) -> tuple[list[str], int] | None:
        filled = [turn for turn in turns if turn]
        if not filled:
            return None
        turn = self.chance.choice(filled)
        return turn, self.chance.randrange(len(turn))

    # Changes

    def _drop(self, turns: list[list[str]], _: BfclConversation) -> None:
        if place := self._place(turns):
            del place[0][place[1]]

    def _double(self, turns: list[list[str]], _: BfclConversation) -> None:
        if place := self._place(turns):
            turn, at = place
            turn.insert(self.chance.randint(at, len(turn)), turn[at])

    def _swap(self, turns: list[list[str]], _: BfclConversation) -> None:
        if place := self._place(turns):
            turn, at = place
            other = self.chance.randrange(len(turn))
            turn[at], turn[other] = turn[other], turn[at]

    def _shuffle(self, turns: list[list[str]], _: BfclConversation) -> None:
        self.chance.shuffle(self.chance.choice(turns))

    def _empty(self, turns: list[list[str]], _: BfclConversation) -> None:
        self.chance.choice(turns).clear()

    def _move(self, turns: list[list[str]], _: BfclConversation) -> None:
        if place := self._place(turns):
            call = place[0].pop(place[1])
            other = self.chance.choice(turns)
            other.insert(self.chance.randint(0, len(other)), call)

    def _earlier_too(self, turns: list[list[str]], _: BfclConversation) -> None:
        """What is wanted later is done before, and then again or not."""
        at = self.chance.randrange(len(turns))
        later = self.chance.choice(turns[at:])
        turns[at] += later
        if self.chance.random() < 0.5 and later is not turns[at]:
            later.clear()

    def _insert(self, turns: list[list[str]], conversation: BfclConversation) -> None:
        service = self.chance.choice([name for name in conversation.services if name in self._calls])
        call = _written(self.chance.choice(self._calls[service]))
        turn = self.chance.choice(turns)
        turn.insert(self.chance.randint(0, len(turn)), call)

    def _insert_error(self, turns: list[list[str]], _: BfclConversation) -> None:
        turn = self.chance.choice(turns)
        turn.insert(self.chance.randint(0, len(turn)), self.chance.choice(_ERRORS))

    def _insert_odd(self, turns: list[list[str]], _: BfclConversation) -> None:
        turn = self.chance.choice(turns)
        at = self.chance.randint(0, len(turn))
        turn[at:at] = self.chance.choice(_ODD)

    def _argument(self, turns: list[list[str]], _: BfclConversation) -> None:
        if not (place := self._place(turns)):
            return
        turn, at = place
        try:
            call = read_call(turn[at])
        except Exception:  # an error that was put in before
            return
        named = dict(call.named)
        if named:
            name = self.chance.choice(list(named))
            way = self.chance.random()
            if way < 0.1:
                del named[name]
            elif way < 0.15:
                named[f"{name}_"] = named.pop(name)
            else:
                named[name] = self._other(named[name])
        positional = tuple(self._other(value) if self.chance.random() < 0.5 else value for value in call.positional)
        turn[at] = _written(Written(call.name, positional, named))

    def _other(self, value: Any) -> Any:
        if self.chance.random() < 0.08:  # no larger number: logarithms to as many digits take the checker minutes
            return self.chance.choice((None, 0, "", [], {}, True, -1, "x", 10**4, [None], 0.5, ()))
        match value:
            case bool():
                return self.chance.choice((not value, int(value), str(value)))
            case int():
                return self.chance.choice((value + 1, -value, float(value), str(value), value * 10, bool(value)))
            case float():
                return self.chance.choice((value + 0.01, int(value), str(value), -value, value * 2))
            case str():
                return self.chance.choice(_TEXTS)(self.chance, value)
            case list():
                return self.chance.choice((value[::-1], value[:-1], [*value, *value], tuple(value), str(value), value))
            case _:
                return self.chance.choice(({}, [value], str(value), value))


def _written(call: Written) -> str:
    arguments = [*map(repr, call.positional), *(f"{name}={value!r}" for name, value in call.named.items())]
    return f"{call.name}({', '.join(arguments)})"


_TEXTS: tuple[Callable[[random.Random, str], str], ...] = (
    lambda _, text: text.upper(),
    lambda _, text: text.lower(),
    lambda _, text: f"{text} ",
    lambda _, text: text[:-1],
    lambda _, text: f"./{text}",
    lambda _, text: text.replace(" ", "_"),
    lambda _, text: f"{text} by cd(here)",  # a name of a function within a text
    lambda _, text: f"{text}\ncat (it), then sort(that) and echo",
    lambda _, text: f"{text}'\"\\",
    lambda chance, text: "".join(chance.sample(text, len(text))),
    lambda _, text: text.replace("é", "e") + "é",
)

_ERRORS = (
    "no_such_function()",
    "cd()",
    "cd(folder='a', folder_='b')",
    "cd(folder='a', folder='b')",
    "cd(1, 2, 3)",
    "kill(1)",
    "remove('x')",
    "cd(folder=)",
    "[cd(folder='x')]",
    "cd",
    "",
    "(",
    "cd(folder='x'",
    "_load_scenario({})",
    "a.cd(folder='x')",
    "get_ticket(ticket_id=[])",
    "power(base='a', exponent=2)",
    "logarithm(value=-1, base=10, precision=5)",
    "compute_exchange_rate(base_currency='XXX', target_currency='YYY', value=1)",
)

_ODD = (
    ["post_tweet(content='x')", "mention(tweet_id=0, mentioned_usernames=['@a'])"],
    ["mention(tweet_id=1, mentioned_usernames=['@b'])", "post_tweet(content='y')"],
    ["mkdir(dir_name='d')", "cp(source='d', destination='d')"],
    ["mkdir(dir_name='d')", "mv(source='d', destination='d')", "find()"],
    ["cd(folder='..')", "ls(a=True)", "pwd()"],
    ["cd(folder='/')", "du(human_readable=True)"],
    ["logarithm(value=10, base=2, precision=3)", "square_root(number=2, precision=3)"],
    ["touch(file_name='t')", "echo(content='cd(x) and sort (y)', file_name='t')", "wc(file_name='t', mode='c')"],
    [
        "tail(file_name='log.txt', lines=0)",
        "tail(file_name='log.txt', lines=-1)",
        "tail(file_name='log.txt', lines=1.5)",
    ],
    ["get_outside_temperature_from_google()", "get_current_speed()"],
    ["get_all_credit_cards()", "get_booking_history(access_token='x')"],
    ["ticket_login(username='a', password='b')", "create_ticket(title='t', priority=True)"],
    ["trading_login(username='a', password='b')", "fund_account(amount=1e308)", "fund_account(amount=1e308)"],
    ["place_order(order_type='Buy', symbol='AAPL', price='1', amount=True)"],
    ["message_login(user_id='USR001')", "send_message(receiver_id='USR002', message='hi')"],
)

_KINDS: dict[str, Callable[[ConversationMutations, list[list[str]], BfclConversation], None]] = {
    "a call is dropped": ConversationMutations._drop,
    "a call is doubled": ConversationMutations._double,
    "two calls are swapped": ConversationMutations._swap,
    "a turn in another order": ConversationMutations._shuffle,
    "a turn is emptied": ConversationMutations._empty,
    "a call is moved": ConversationMutations._move,
    "a turn's calls earlier too": ConversationMutations._earlier_too,
    "another call is put in": ConversationMutations._insert,
    "an error is put in": ConversationMutations._insert_error,
    "odd calls are put in": ConversationMutations._insert_odd,
    "an argument is changed": ConversationMutations._argument,
}
