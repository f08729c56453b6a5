"""Tools that a reader would confuse are alike, and tools that one would not are not.

Each tool is (name, description, names of its parameters). The pairs of the first two lists were written before the
measure was tuned on them; those of the last two were written afterwards, and one rule (opposites) was added for them.
"""

from __future__ import annotations

from typing import TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wieldy.core.calls import ToolDefinition
from wieldy.tools.likeness import THRESHOLD, likeness, split_words, words_of

Described: TypeAlias = "tuple[str, str, list[str]]"

ALIKE: list[tuple[Described, Described]] = [
    (("get_user", "Get a user by id.", ["user_id"]), ("fetch_user", "Fetch the user with this id.", ["id"])),
    (
        ("search_documents", "Search the documents.", ["query"]),
        ("find_documents", "Find documents that match a query.", ["query"]),
    ),
    (
        ("send_email", "Send an email to a recipient.", ["to", "subject", "body"]),
        ("email_user", "Sends an e-mail message to a recipient.", ["address", "subject", "text"]),
    ),
    (
        ("get_weather", "Get the weather for a city.", ["city"]),
        ("weather_lookup", "Look up the current weather of a city.", ["city"]),
    ),
    (
        ("create_ticket", "Create a support ticket.", ["title", "body"]),
        ("open_ticket", "Open a new ticket with the support team.", ["title", "description"]),
    ),
    (
        ("search_web", "Search the web for pages about something.", ["query"]),
        ("web_search", "Searches the web and returns pages.", ["q"]),
    ),
    (
        ("list_orders", "List the orders of a customer.", ["customer_id"]),
        ("get_orders", "Get all orders of a customer.", ["customer_id"]),
    ),
    (("delete_file", "Delete a file.", ["path"]), ("remove_file", "Remove a file from the disk.", ["path"])),
    (
        (
            "convert_currency",
            "Convert an amount of money from one currency to another.",
            ["amount", "source", "target"],
        ),
        ("exchange_currency", "Exchange an amount of money into another currency.", ["amount", "from_", "to"]),
    ),
    (
        ("calculate", "Evaluate a mathematical expression.", ["expression"]),
        ("evaluate_expression", "Evaluates a math expression.", ["expression"]),
    ),
    (
        ("read_file", "Read a file and return its content.", ["path"]),
        ("get_file_contents", "Get the contents of a file.", ["path"]),
    ),
    (
        ("run_sql", "Run a SQL query against the database.", ["query"]),
        ("query_database", "Query the database with SQL.", ["sql"]),
    ),
    (
        ("book_flight", "Book a flight for a passenger.", ["flight_number", "passenger"]),
        ("reserve_flight", "Reserve a seat on a flight for a passenger.", ["flight", "passenger"]),
    ),
    (
        ("update_customer", "Update the data of a customer.", ["customer_id", "data"]),
        ("edit_customer", "Edit a customer's data.", ["customer_id", "changes"]),
    ),
    (
        ("get_stock_price", "Get the current price of a stock.", ["symbol"]),
        ("stock_quote", "Current price quote for a stock.", ["ticker"]),
    ),
    (
        ("search_notes", "Search the user's notes.", ["query"]),
        ("find_in_notes", "Find text in the user's notes.", ["text"]),
    ),
    (
        ("get_order_status", "Tell the status of an order.", ["order_id"]),
        ("check_order", "Check what the status of an order is.", ["order_id"]),
    ),
    (
        ("getCustomerInfo", "Returns information about a customer.", ["customerId"]),
        ("get_customer_details", "Get the details of a customer.", ["customer_id"]),
    ),
    (
        ("add_calendar_event", "Add an event to the calendar.", ["title", "start", "end"]),
        ("create_event", "Create a calendar event.", ["title", "start", "end"]),
    ),
    (("summarize", "Summarize a text.", ["text"]), ("make_summary", "Make a summary of a text.", ["text"])),
]

DIFFERENT: list[tuple[Described, Described]] = [
    (
        ("create_order", "Create an order for a customer.", ["customer_id", "items"]),
        ("delete_order", "Delete an order of a customer.", ["order_id"]),
    ),
    (("get_order", "Get an order.", ["order_id"]), ("cancel_order", "Cancel an order.", ["order_id"])),
    (("refund_order", "Refund an order.", ["order_id"]), ("cancel_order", "Cancel an order.", ["order_id"])),
    (("get_user", "Get a user by id.", ["user_id"]), ("get_order", "Get an order by id.", ["order_id"])),
    (("read_file", "Read a file.", ["path"]), ("write_file", "Write a file.", ["path", "content"])),
    (("add", "Add two numbers.", ["a", "b"]), ("subtract", "Subtract one number from another.", ["a", "b"])),
    (("add", "Add two numbers.", ["a", "b"]), ("multiply", "Multiply two numbers.", ["a", "b"])),
    (
        ("celsius_to_fahrenheit", "Convert a temperature from Celsius to Fahrenheit.", ["degrees"]),
        ("fahrenheit_to_celsius", "Convert a temperature from Fahrenheit to Celsius.", ["degrees"]),
    ),
    (
        ("send_email", "Send an email to a recipient.", ["to", "subject", "body"]),
        ("send_sms", "Send a text message to a phone number.", ["number", "text"]),
    ),
    (
        ("upload_file", "Upload a file to the server.", ["path"]),
        ("download_file", "Download a file from the server.", ["path"]),
    ),
    (
        ("list_orders", "List the orders of a customer.", ["customer_id"]),
        ("get_order", "Get one order by its number.", ["order_id"]),
    ),
    (("start_server", "Start the server.", ["name"]), ("stop_server", "Stop the server.", ["name"])),
    (
        ("search_flights", "Search for flights between two airports on a day.", ["origin", "destination", "date"]),
        ("search_hotels", "Search for hotels in a city between two days.", ["city", "arrival", "departure"]),
    ),
    (("increase_volume", "Increase the volume.", ["steps"]), ("decrease_volume", "Decrease the volume.", ["steps"])),
    (("open_door", "Open a door.", ["door"]), ("close_door", "Close a door.", ["door"])),
    (("lock_account", "Lock an account.", ["account_id"]), ("unlock_account", "Unlock an account.", ["account_id"])),
    (
        ("encode_base64", "Encode a text as base64.", ["text"]),
        ("decode_base64", "Decode base64 into a text.", ["text"]),
    ),
    (
        ("add_to_cart", "Add a product to the cart.", ["product_id"]),
        ("remove_from_cart", "Remove a product from the cart.", ["product_id"]),
    ),
    (
        ("get_balance", "Get the balance of an account.", ["account_id"]),
        ("transfer_money", "Transfer money from one account to another.", ["source", "target", "amount"]),
    ),
    (
        ("list_tables", "List the tables of the database.", ["database"]),
        ("describe_table", "Describe the columns of a table of the database.", ["table"]),
    ),
    (
        ("git_commit", "Record the staged changes in the repository.", ["message"]),
        ("git_push", "Send local commits to the remote repository.", ["remote", "branch"]),
    ),
    (
        ("find_minimum", "Find the smallest number of a list.", ["numbers"]),
        ("find_maximum", "Find the largest number of a list.", ["numbers"]),
    ),
    (
        ("get_user_by_email", "Get a user by e-mail address.", ["email"]),
        ("get_user_by_id", "Get a user by id.", ["user_id"]),
    ),
    (("create_user", "Create a user.", ["name"]), ("create_order", "Create an order.", ["items"])),
    (
        ("get_weather", "Get the current weather of one city: condition, temperature, wind.", ["city"]),
        ("calculate", "Work out one arithmetic expression of plain numbers exactly.", ["expression"]),
    ),
    (
        ("calculate", "Work out one arithmetic expression of plain numbers exactly.", ["expression"]),
        ("search_notes", "Search the user's own notes and return the passages that fit best.", ["query"]),
    ),
    (("search_notes", "Search the user's own notes.", ["query"]), ("search_web", "Search the web.", ["query"])),
    (
        ("move_file", "Move a file to another folder.", ["source", "target"]),
        ("copy_file", "Copy a file to another folder.", ["source", "target"]),
    ),
    (
        ("get_temperature", "Get the temperature in a room.", ["room"]),
        ("set_temperature", "Set the temperature in a room.", ["room", "degrees"]),
    ),
    (
        ("approve_request", "Approve a request for leave.", ["request_id"]),
        ("reject_request", "Reject a request for leave.", ["request_id"]),
    ),
    (
        ("get_customer", "Get a customer.", ["customer_id"]),
        ("get_customer_orders", "Get the orders of a customer.", ["customer_id"]),
    ),
    (
        ("translate_text", "Translate a text into another language.", ["text", "language"]),
        ("detect_language", "Tell the language of a text.", ["text"]),
    ),
]

ALIKE_UNSEEN: list[tuple[Described, Described]] = [
    (
        ("create_issue", "Create an issue in the tracker.", ["title", "body"]),
        ("new_issue", "File a new issue in the issue tracker.", ["title", "text"]),
    ),
    (
        ("get_time", "Get the current time in a time zone.", ["timezone"]),
        ("current_time", "Tell the current time.", ["zone"]),
    ),
    (
        ("add_contact", "Add a contact to the address book.", ["name", "phone"]),
        ("save_contact", "Save a contact in the address book.", ["name", "number"]),
    ),
    (
        ("delete_user", "Delete a user account.", ["user_id"]),
        ("remove_user_account", "Remove the account of a user.", ["user_id"]),
    ),
    (
        ("translate", "Translate a text.", ["text", "to"]),
        ("translate_text", "Translate a text into a language.", ["text", "language"]),
    ),
    (
        ("send_message", "Send a message to a channel.", ["channel", "text"]),
        ("post_message", "Post a message in a channel.", ["channel", "message"]),
    ),
    (
        ("get_product", "Get a product from the catalogue.", ["product_id"]),
        ("show_product_details", "Show the details of a product.", ["product_id"]),
    ),
    (
        ("schedule_meeting", "Schedule a meeting with people.", ["people", "start"]),
        ("create_meeting", "Create a meeting with people at a time.", ["people", "time"]),
    ),
    (
        ("get_exchange_rate", "Get the exchange rate between two currencies.", ["base", "quote"]),
        ("currency_rate", "Current rate of exchange for a pair of currencies.", ["source", "target"]),
    ),
    (("fetch_url", "Fetch the page at a URL.", ["url"]), ("read_webpage", "Read a web page at a URL.", ["url"])),
    (
        ("searchProducts", "Search products by keyword", ["keyword"]),
        ("productSearch", "Finds products matching keywords", ["keywords"]),
    ),
]

DIFFERENT_UNSEEN: list[tuple[Described, Described]] = [
    (
        ("create_invoice", "Create an invoice for an order.", ["order_id"]),
        ("send_invoice", "Send an invoice to the customer.", ["invoice_id"]),
    ),
    (("get_invoice", "Get an invoice.", ["invoice_id"]), ("pay_invoice", "Pay an invoice.", ["invoice_id"])),
    (("list_users", "List all users.", []), ("list_groups", "List all groups.", [])),
    (
        ("add_user_to_group", "Add a user to a group.", ["user", "group"]),
        ("remove_user_from_group", "Remove a user from a group.", ["user", "group"]),
    ),
    (
        ("get_forecast", "Get the weather forecast for the coming days.", ["city", "days"]),
        ("get_air_quality", "Get the air quality of a city.", ["city"]),
    ),
    (("mute", "Mute the sound.", []), ("unmute", "Unmute the sound.", [])),
    (("play_song", "Play a song.", ["title"]), ("pause_song", "Pause the song.", [])),
    (
        ("get_distance", "Get the distance between two places.", ["a", "b"]),
        ("get_route", "Get the route between two places.", ["a", "b"]),
    ),
    (
        ("search_flights", "Search for flights.", ["origin", "destination"]),
        ("book_flight", "Book a flight.", ["flight_id"]),
    ),
    (
        ("get_patient", "Get the record of a patient.", ["patient_id"]),
        ("update_patient", "Update the record of a patient.", ["patient_id", "changes"]),
    ),
    (("turn_on_light", "Turn on a light.", ["room"]), ("turn_off_light", "Turn off a light.", ["room"])),
    (("sign_in", "Sign in to the account.", ["user", "password"]), ("sign_out", "Sign out of the account.", [])),
    (("create_branch", "Create a branch.", ["name"]), ("create_tag", "Create a tag.", ["name"])),
    (("square_root", "Square root of a number.", ["x"]), ("square", "Square of a number.", ["x"])),
    (("first_day", "First day of a month.", ["month"]), ("last_day", "Last day of a month.", ["month"])),
    (
        ("get_cpu_usage", "Get the CPU usage of a host.", ["host"]),
        ("get_memory_usage", "Get the memory usage of a host.", ["host"]),
    ),
    (
        ("deposit", "Deposit money into an account.", ["account", "amount"]),
        ("withdraw", "Withdraw money from an account.", ["account", "amount"]),
    ),
]


def score(one: Described, other: Described) -> float:
    return likeness(words_of(defined(one)), words_of(defined(other)))


def defined(described: Described) -> ToolDefinition:
    name, description, parameters = described
    schema = {"type": "object", "properties": {parameter: {"type": "string"} for parameter in parameters}}
    return ToolDefinition(name=name, description=description, input_schema=schema)


@pytest.mark.parametrize(("one", "other"), [*ALIKE, *ALIKE_UNSEEN])
def test_pairs_that_one_would_confuse_are_alike(one: Described, other: Described) -> None:
    assert score(one, other) >= THRESHOLD
    assert score(other, one) == pytest.approx(score(one, other))


@pytest.mark.parametrize(("one", "other"), [*DIFFERENT, *DIFFERENT_UNSEEN])
def test_pairs_that_one_would_not_confuse_are_not(one: Described, other: Described) -> None:
    assert score(one, other) < THRESHOLD
    assert score(other, one) == pytest.approx(score(one, other))


def test_synonyms_outside_the_table_are_not_seen() -> None:
    listing = ("list_files", "List the files in a folder.", ["path"])
    other = ("get_directory_listing", "List what is in a directory.", ["directory"])
    assert score(listing, other) < THRESHOLD


@pytest.mark.parametrize("name", ["get_user_id", "getUserId", "get-user-id", "GetUserId"])
def test_names_are_split_however_they_are_written(name: str) -> None:
    assert split_words(name) == ["get", "user", "id"]


described = st.tuples(
    st.text(alphabet="abcdefgh_-", min_size=1, max_size=12),
    st.one_of(st.text(max_size=40), st.sampled_from(["Get a user.", "Delete the order.", "ß ſ İ"])),
    st.lists(st.sampled_from(["id", "to", "x"]), max_size=2, unique=True),
)


@given(described, described)
def test_likeness_is_a_symmetric_share(one: Described, other: Described) -> None:
    assert 0 <= score(one, other) <= 1.000001
    assert score(one, other) == pytest.approx(score(other, one))
