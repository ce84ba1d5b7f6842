"""Names and addresses: what is let through, and that no notation gets around it."""

from ipaddress import IPv4Address, IPv6Address, ip_address

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from orchestrator.contracts.records.definitions import HostPort
from orchestrator.core.sandbox.egress_rules import (
    Address,
    is_host_name,
    is_public,
    named_destination,
    parsed_address,
    unwrapped,
)
from orchestrator.core.sandbox.refusal import CallRefusal

_LISTED = HostPort(host="files.example.org", port=443)
_INSIDE = st.one_of(
    st.ip_addresses(v=4, network="10.0.0.0/8"),
    st.ip_addresses(v=4, network="127.0.0.0/8"),
    st.ip_addresses(v=4, network="169.254.0.0/16"),
    st.ip_addresses(v=4, network="172.16.0.0/12"),
    st.ip_addresses(v=4, network="192.168.0.0/16"),
    st.ip_addresses(v=4, network="100.64.0.0/10"),
)


@pytest.mark.parametrize("authority", ["files.example.org:443", "FILES.Example.ORG:443"])
def test_a_listed_name_is_let_through_in_any_case(authority: str) -> None:
    assert named_destination(authority, [_LISTED]) == _LISTED


def test_a_listed_name_may_be_written_in_any_case_on_the_list() -> None:
    assert named_destination("a.example:1", [HostPort(host="A.Example", port=1)]) == HostPort(
        host="a.example", port=1
    )


@given(authority=st.text())
@example(authority="files.example.org:443 ")
@example(authority="files.example.org\n:443")
@example(authority="\ufb01les.example.org:443")
@example(authority="files.example.org:\uff14\uff14\uff13")
@example(authority="files\u3002example\u3002org:443")
@example(authority="files.example.org:443\n")
def test_no_other_text_than_the_listed_name_and_port_is_let_through(authority: str) -> None:
    found = named_destination(authority, [_LISTED])

    assert (found == _LISTED) == (authority.isascii() and authority.lower() == "files.example.org:443")
    assert found == _LISTED or isinstance(found, CallRefusal)


@given(
    number=st.integers(min_value=0, max_value=2**32 - 1), form=st.sampled_from(["%d", "0%o", "0x%x", "0X%X"])
)
def test_no_number_is_a_host_name(number: int, form: str) -> None:
    written = (form % number).lower()

    assert not is_host_name(written)
    assert not is_host_name(f"127.{written}")
    assert not is_host_name(f"a.{written}")


@given(address=st.ip_addresses())
def test_no_address_is_a_host_name(address: IPv4Address | IPv6Address) -> None:
    assert not is_host_name(str(address))
    assert not is_host_name(f"[{address}]")


@pytest.mark.parametrize(
    "name", ["", ".", "a.", ".a", "a..b", "-a.b", "a-.b", "a" * 64, "a_b c", "a.b/c", "1", "a" * 254]
)
def test_what_is_no_name_is_none(name: str) -> None:
    assert not is_host_name(name)


@given(inside=_INSIDE)
def test_no_wrapping_makes_an_inner_address_public(inside: IPv4Address) -> None:
    number = int(inside)
    wrapped: list[Address] = [
        inside,
        IPv6Address(0xFFFF << 32 | number),  # mapped
        IPv6Address(number),  # compatible, of old
        IPv6Address(0x64FF9B << 96 | number),  # NAT64
        IPv6Address(0x64FF9B0001 << 80 | number),  # NAT64 of a local network
        IPv6Address(0x2002 << 112 | number << 80),  # 6to4
        IPv6Address(0x20010000 << 96 | (number ^ 0xFFFFFFFF)),  # Teredo
        IPv6Address(0x2606_4700 << 96 | 0x0000_5EFE << 32 | number),  # ISATAP
        IPv6Address(0x2606_4700 << 96 | 0x0200_5EFE << 32 | number),
    ]

    assert [address for address in wrapped if is_public(address)] == []


@pytest.mark.parametrize(
    "text",
    [
        "0.0.0.0", "0.1.2.3", "192.0.0.8", "192.0.2.1", "192.88.99.1", "198.18.0.1", "198.51.100.1",
        "203.0.113.7", "224.0.0.251", "239.255.255.250", "240.0.0.1", "255.255.255.255",
        "::", "::1", "100::1", "fc00::1", "fd12:3456::1", "fe80::1", "fe80::1%eth0", "fec0::1", "ff02::fb",
        "2001:db8::1", "2001:2::1", "2001:10::1", "2001:20::1", "3fff::1", "5f00::1", "4000::1",
        "2606:4700::1111%eth0",
    ],
)  # fmt: skip
def test_special_addresses_are_not_public(text: str) -> None:
    assert not is_public(ip_address(text))


@pytest.mark.parametrize(
    ("text", "dialled"),
    [
        ("93.184.216.34", "93.184.216.34"),
        ("1.1.1.1", "1.1.1.1"),
        ("2606:4700::1111", "2606:4700::1111"),
        ("::ffff:1.1.1.1", "1.1.1.1"),
        ("64:ff9b::101:101", "1.1.1.1"),
    ],
)
def test_public_addresses_are_and_wrapped_ones_are_dialled_as_what_they_stand_for(
    text: str, dialled: str
) -> None:
    assert is_public(ip_address(text))
    assert str(unwrapped(ip_address(text))) == dialled


@given(text=st.text())
@example(text="127.1")
@example(text="0177.0.0.1")
@example(text="2130706433")
def test_only_whole_addresses_are_read_as_such(text: str) -> None:
    address = parsed_address(text)

    assert address is None or ip_address(str(address)) == address
    assert parsed_address("127.1") is None
