"""What AgentDojo's tools do, who may have shaped what they return, and what of their calls must be the user's.

Written once from the tools' code, not from the tasks. The reasons:

* Untrusted is what holds words that other people write: mails, events, files, messages, pages, reviews, the subjects
  of payments. Catalogues of hotels, flights and the like, the user's own account data and the date are the service's.
* Vouched for are fields that the service makes (ids), and people whom the user has chosen: the address book, whom they
  wrote to, who shares a file or an event of theirs, whom they paid. Who wrote a mail to the user is not: anybody can.
* Targets are whom a call reaches (recipients, addresses of pages, accounts), what it destroys or changes (ids), what
  is made or booked, and what gives access (passwords, the account holder's data). What cannot be taken back (paid,
  booked, deleted, shared, attached) the user has to name, and not only to be shown in a list.
* Of events and bookings the day is the user's as well; of what is made the title is mostly in the user's words, and so
  is a message where the user gives one. Channels and pages are read as well as written to.
* Reading a page counts, for its address can carry data out. Colleagues' messages may name pages to read, and nothing
  else: they are members of the user's own workspace, while anybody can write a page.
* What the user must have asked for is a deed and a kind of thing, in one sentence: the verbs and nouns are those of
  the tool's name, description and arguments, and words that mean the same.
* What reads the user's own data, mails, files, events, messages or account is asked for by words for these; a tool
  that reads what everybody may know (hotels, pages, members, days) has no such words.
* To invite somebody, the user has to name them; the address may come from where the user sends the model to look.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from wieldy.run.policy import Aim

if TYPE_CHECKING:
    from wieldy.core.calls import Effect, Trust


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared:
    """What is said of one tool.

    Attributes:
        effect: What a call does to the world.
        trust: Whether strangers may have shaped what it returns.
        aim: What of its calls must be the user's; None where nothing needs to be.
        vouched: Fields of its results that are the service's or the user's all the same.
        read_for: Words, of which the prompt has one if it asks for what the tool reads; none where that is not private.
    """

    effect: Effect = "read"
    trust: Trust = "trusted"
    aim: Aim | None = None
    vouched: tuple[str, ...] = ()
    read_for: tuple[str, ...] = ()


_OWN: Final = Declared()
_PEOPLE: Final = ("*.id_", "id_", "*.owner", "owner", "*.shared_with.*")
_FILES: Final = Declared(trust="untrusted", vouched=_PEOPLE, read_for=("file", "document", "drive", "list", "folder"))
_EVENTS: Final = Declared(
    trust="untrusted",
    vouched=("*.id_", "id_", "*.participants.*", "participants.*"),
    read_for=("event", "calendar", "appointment", "meeting", "schedul", "free", "lunch", "dinner", "class"),
)
_MAIL_WORDS: Final = ("mail", "e-mail", "email", "inbox", "message")
_MAILS: Final = Declared(trust="untrusted", vouched=("*.id_",), read_for=_MAIL_WORDS)
_SENT: Final = Declared(
    trust="untrusted", vouched=("*.id_", "*.recipients.*", "*.cc.*", "*.bcc.*"), read_for=_MAIL_WORDS
)
_REVIEWS: Final = Declared(trust="untrusted")
_RECIPIENTS: Final = ("recipients", "cc", "bcc")
_MEMBERS: Final = ("read_channel_messages", "read_inbox")
_BOOK: Final = ("reserv", "book ", "rent ", "make a booking")
_DELETE: Final = ("delet", "remov", "eras", "trash", "get rid of")
_MESSAGE: Final = (
    *("send ", "write ", "reply", "tell ", "ask ", "inform ", "forward ", "dm ", "let "),
    *("message them", "message him", "message her", "message all", "please message", "and message"),
)
_MONEY: Final = (
    *("money", "amount", "how much", "payment", "bill", "invoice", "rent", "fee", "refund", "difference", "share"),
    *("pay ", "wire ", "transfer", "$", "€", "£", "euro", "dollar", "pound"),
)
_STANDING: Final = ("standing", "recurring", "schedul", "payment", "transaction", "transfer", "rent", "subscription")
_EVENT_WORDS: Final = ("event", "calendar", "appointment", "meeting", "remind")
_FILE_WORDS: Final = ("file", "document", "list", "spreadsheet", "drive")
_SPENT: Final = (
    *("transaction", "payment", "paid", "pay ", "sent ", "spend", "spent", "spending", "bill", "history"),
    *("account", "refund", "rent", "money", "standing", "recurring", "subscription"),
)


def _changing(
    targets: tuple[str, ...],
    asked: tuple[str, ...],
    things: tuple[str, ...],
    *,
    trust: Trust = "trusted",
    vouched: tuple[str, ...] = (),
    links: bool = True,
    **more: tuple[str, ...],
) -> Declared:
    aim = Aim(targets=targets, asked=asked, things=things, links=links, **more)
    return Declared(effect="unsafe", trust=trust, aim=aim, vouched=vouched)


_BANKING: Final = {
    "get_iban": Declared(read_for=("iban", "account")),
    "get_balance": Declared(read_for=("balance", "account", "money")),
    "get_user_info": Declared(read_for=("account info", "user info", "address", "personal", "my info", "my name")),
    "get_most_recent_transactions": Declared(
        trust="untrusted", vouched=("*.id", "*.recipient", "*.sender"), read_for=_SPENT
    ),
    "get_scheduled_transactions": Declared(
        trust="untrusted", vouched=("*.id", "*.recipient", "*.sender"), read_for=_SPENT
    ),
    "read_file": Declared(trust="untrusted", read_for=("file", "read ", "bill", "invoice", "document")),
    "send_money": _changing(
        (), ("send ", "pay ", "transfer", "refund", "wire ", "return "), _MONEY, records=("recipient",)
    ),
    "schedule_transaction": _changing(
        (), ("schedule ", "set up", "creat", "plan ", "add "), _STANDING, records=("recipient",)
    ),
    "update_scheduled_transaction": _changing(
        (), ("updat", "adjust", "chang", "modif", "increas", "reduc"), _STANDING, records=("id", "recipient")
    ),
    "update_password": _changing(("password",), ("updat", "chang", "set ", "reset"), ("password",)),
    "update_user_info": _changing(
        ("first_name", "last_name", "street", "city"),
        ("updat", "chang", "correct", "set "),
        ("account info", "info", "address", "name", "details", "profile"),
    ),
}
_SLACK: Final = {
    "get_channels": Declared(trust="untrusted", vouched=("*",)),
    "get_users_in_channel": Declared(trust="untrusted", vouched=("*",)),
    "read_channel_messages": Declared(
        trust="untrusted", vouched=("*.sender",), read_for=("channel", "messag", "post", "wrote", "slack")
    ),
    "read_inbox": Declared(trust="untrusted", vouched=("*.sender",), read_for=("inbox", "messag", "dm", "slack")),
    "get_webpage": Declared(trust="untrusted", aim=Aim(targets="url", also=_MEMBERS)),
    "post_webpage": _changing(
        (), ("post ", "publish", "upload", "put "), ("website", "page", "webpage", "site"), places=("url",)
    ),
    "send_direct_message": _changing(
        ("recipient",), _MESSAGE, ("message ", "messages ", "dm", "direct message"), texts=("body",)
    ),
    "send_channel_message": _changing(
        (), (*_MESSAGE, "post ", "announc"), ("channel",), places=("channel",), texts=("body",)
    ),
    "add_user_to_channel": _changing(("user", "channel"), ("add ", "join", "put "), ("channel",)),
    "invite_user_to_slack": _changing(("user",), ("invit",), ("slack", "workspace"), links=False),
    "remove_user_from_slack": _changing(
        ("user",), (*_DELETE, "kick", "ban "), ("user", "member", "slack", "workspace")
    ),
}
_WORKSPACE: Final = {
    "get_current_day": _OWN,
    "search_contacts_by_name": Declared(trust="untrusted", vouched=("*.email",)),
    "search_contacts_by_email": Declared(trust="untrusted", vouched=("*.email",)),
    "get_unread_emails": _MAILS,
    "get_received_emails": _MAILS,
    "search_emails": _MAILS,
    "get_sent_emails": _SENT,
    "get_draft_emails": _SENT,
    "search_calendar_events": _EVENTS,
    "get_day_calendar_events": _EVENTS,
    "search_files_by_filename": _FILES,
    "search_files": _FILES,
    "get_file_by_id": _FILES,
    "list_files": _FILES,
    "send_email": _changing(
        _RECIPIENTS,
        ("send ", "forward", "repl", "writ", "let ", "inform", "please email", "and email", "then email"),
        ("mail", "e-mail", "email"),
        records=("attachments",),
        texts=("body",),
    ),
    "delete_email": _changing((), _DELETE, ("mail", "e-mail", "email"), records=("email_id",)),
    "create_calendar_event": _changing(
        ("participants",),
        ("creat", "add ", "schedule ", "set up", "mak", "put ", "plan ", "book ", "remind"),
        _EVENT_WORDS,
        titles=("title",),
        days=("start_time", "end_time"),
    ),
    "cancel_calendar_event": _changing((), ("cancel", *_DELETE), _EVENT_WORDS, records=("event_id",)),
    "reschedule_calendar_event": _changing(
        ("event_id",),
        ("reschedul", "mov", "postpon", "shift", "push", "delay"),
        ("reschedul", *_EVENT_WORDS),
        days=("new_start_time", "new_end_time"),
        trust="untrusted",
        vouched=("id_",),
    ),
    "add_calendar_event_participants": _changing(
        ("participants",), ("add ", "invit", "includ"), (*_EVENT_WORDS, "participant"), records=("event_id",)
    ),
    "create_file": _changing(
        ("filename",), ("creat", "sav", "writ", "mak"), _FILE_WORDS, links=False, vouched=("id_",)
    ),
    "append_to_file": _changing(
        (),
        ("append", "add ", "writ", "updat", "put "),
        _FILE_WORDS,
        records=("file_id",),
        links=False,
        trust="untrusted",
        vouched=_PEOPLE,
    ),
    "delete_file": _changing((), _DELETE, _FILE_WORDS, records=("file_id",), trust="untrusted", vouched=_PEOPLE),
    "share_file": _changing(
        ("email",), ("shar", "give "), _FILE_WORDS, records=("file_id",), trust="untrusted", vouched=_PEOPLE
    ),
}
_TRAVEL: Final = {
    **dict.fromkeys(
        (
            "get_flight_information",
            *("get_all_hotels_in_city", "get_hotels_prices", "get_hotels_address"),
            *("get_all_restaurants_in_city", "get_cuisine_type_for_restaurants", "get_restaurants_address"),
            *("get_dietary_restrictions_for_all_restaurants", "get_contact_information_for_restaurants"),
            *("get_price_for_restaurants", "check_restaurant_opening_hours", "get_all_car_rental_companies_in_city"),
            *("get_car_types_available", "get_car_fuel_options", "get_car_rental_address", "get_car_price_per_day"),
        ),
        _OWN,
    ),
    "get_user_information": Declared(
        read_for=("my info", "user info", "personal", "passport", "credit card", "my phone", "my address", "my details")
    ),
    "get_rating_reviews_for_hotels": _REVIEWS,
    "get_rating_reviews_for_restaurants": _REVIEWS,
    "get_rating_reviews_for_car_rental": _REVIEWS,
    "reserve_hotel": _changing((), _BOOK, ("hotel", "room"), records=("hotel",), days=("start_day", "end_day")),
    "reserve_car_rental": _changing((), _BOOK, ("car",), records=("company",), days=("start_time", "end_time")),
    "reserve_restaurant": _changing(
        (),
        _BOOK,
        ("restaurant", "table", "dinner", "lunch"),
        records=("restaurant",),
        days=("start_time", "end_time"),
    ),
}

DECLARED: Final[Mapping[str, Declared]] = {**_BANKING, **_SLACK, **_WORKSPACE, **_TRAVEL}
"""By the name of the tool; suites share some."""
