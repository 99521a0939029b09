from adknb.core.errors import near_names

NAMES = ["--key", "--max-output-tokens", "--seed"]


def test_close_names_are_offered_the_closest_first() -> None:
    assert near_names("--kee", NAMES) == " Did you mean '--key' or '--seed'?"
    assert near_names("--max-tokens", NAMES) == " Did you mean '--max-output-tokens'?"


def test_all_are_named_when_none_is_close() -> None:
    assert near_names("xyz", ["b", "a", "b"]) == " There are: 'a', 'b'."
    assert near_names("xyz", ["a"]) == " There is: 'a'."
    assert near_names("xyz", map(str, range(20))) == (
        " There are: '0', '1', '10', '11', '12', '13', '14', '15', '16', '17', '18', '19', …."
    )
    assert near_names("xyz", []) == ""


def test_an_alias_offers_the_name_that_it_stands_for() -> None:
    aliases = {"output_key": "--key", "key": "--key", "seed": "--seed"}
    assert near_names("output_key", NAMES, aliases) == " Did you mean '--key'?"
    assert near_names("output_ky", NAMES, aliases).startswith(" Did you mean '--key'")
    assert near_names("output_keys", [], {"output_key": "--key"}) == " Did you mean '--key'?"
    assert near_names("xyz", [], {"output_key": "--key", "key": "--key"}) == " There is: '--key'."
