//! Who asks, without knowing who: an address becomes a keyed hash that is another one every day.
//!
//! The key makes it useless to hash every address there is and compare. An address is what the cloud saw, never what a
//! request says of itself; only proxies of our own, counted in the configuration, are believed. No address leaves here.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use hmac::{Hmac, Mac};
use sha2::Sha256;

use crate::quota::{Account, Day};

/// Where a question comes from, as far as visitors are told apart.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum Address {
    /// One visitor an address.
    V4(Ipv4Addr),
    /// One visitor a /64, the least that a household is given: its upper 64 bits.
    V6(u64),
    /// Nobody knows: one visitor for all of them.
    Unknown,
}

impl fmt::Debug for Address {
    /// An address is not printed.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::V4(_) => "V4(…)",
            Self::V6(_) => "V6(…)",
            Self::Unknown => "Unknown",
        })
    }
}

impl Address {
    /// The visitor's address, by what the cloud saw (`source_ip`) and, behind `trusted_hops` proxies of our own, by what the
    /// outermost of them saw: each appended that to `forwarded_for`, and whatever stands before is the visitor's word. The
    /// cloud itself may have appended what it saw, which is then no proxy's.
    #[must_use]
    pub fn of(source_ip: Option<&str>, forwarded_for: &[&str], trusted_hops: usize) -> Self {
        let source = source_ip.and_then(parse);
        let Some(before_last) = trusted_hops.checked_sub(1) else {
            return source.map_or(Self::Unknown, Self::from);
        };
        let entries = forwarded_for.iter().flat_map(|header| header.split(','));
        let mut seen: Vec<Option<IpAddr>> = entries.map(parse).collect();
        if seen
            .last()
            .is_some_and(|last| last.is_some() && *last == source)
        {
            seen.pop();
        }
        seen.into_iter()
            .rev()
            .nth(before_last)
            .flatten()
            .map_or(Self::Unknown, Self::from)
    }

    /// The /48 that a /64 lies in: sites are given that much, so that it has a limit of its own.
    fn network(self) -> Option<u64> {
        match self {
            Self::V6(upper) => Some(upper >> 16),
            Self::V4(_) | Self::Unknown => None,
        }
    }
}

impl From<IpAddr> for Address {
    fn from(address: IpAddr) -> Self {
        // An IPv4 address written as IPv6 is the same visitor.
        match address.to_canonical() {
            IpAddr::V4(address) => Self::V4(address),
            IpAddr::V6(address) => Self::V6(upper_half(address)),
        }
    }
}

fn upper_half(address: Ipv6Addr) -> u64 {
    (address.to_bits() >> 64) as u64
}

/// An address as proxies write it: bare, in brackets, with a port or with a zone.
fn parse(text: &str) -> Option<IpAddr> {
    let text = text.trim();
    let bare = match text.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None if text.matches(':').count() == 1 => text.split(':').next().unwrap_or_default(),
        None => text,
    };
    bare.split('%').next().unwrap_or_default().parse().ok()
}

/// The secret that keys the hashes. It never prints.
#[derive(Clone)]
pub struct HashKey(Vec<u8>);

impl fmt::Debug for HashKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("HashKey(…)")
    }
}

impl HashKey {
    /// Characters a secret has at least.
    pub const LEAST_CHARS: usize = 16;

    /// Takes a secret, if it is long enough not to be guessed.
    #[must_use]
    pub fn new(secret: &str) -> Option<Self> {
        (secret.chars().count() >= Self::LEAST_CHARS).then(|| Self(secret.as_bytes().to_vec()))
    }

    /// Who is charged for questions from `address` on `day`.
    #[must_use]
    pub fn account(&self, day: Day, address: Address) -> Account {
        let visitor = match address {
            Address::V4(address) => format!("4 {address}"),
            Address::V6(upper) => format!("64 {upper:x}"),
            Address::Unknown => "unknown".to_owned(),
        };
        let network = address.network().map(|upper| format!("48 {upper:x}"));
        Account {
            visitor: self.hash("visitor", day, &visitor),
            network: network.map(|network| self.hash("network", day, &network)),
        }
    }

    /// Stands for a question in a day's records: the same for the same question, and nothing to be read or guessed from.
    #[must_use]
    pub fn question(&self, day: Day, question: &str) -> String {
        self.hash("question", day, question)
    }

    /// 128 bits of HMAC-SHA-256 (RFC 2104), in hexadecimal. The purpose keeps hashes of different things apart.
    fn hash(&self, purpose: &str, day: Day, what: &str) -> String {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.0)
            .unwrap_or_else(|_| unreachable!("HMAC takes keys of every length"));
        mac.update(format!("{purpose}\0{day}\0{what}").as_bytes());
        let digest = mac.finalize().into_bytes();
        digest
            .iter()
            .take(16)
            .map(|byte| format!("{byte:02x}"))
            .collect()
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests fail by panicking")]
mod tests {
    use sha2::Digest;

    use super::*;

    fn key() -> HashKey {
        HashKey::new("a secret of the tests").unwrap()
    }

    fn account(source_ip: &str) -> Account {
        let address = Address::of(Some(source_ip), &[], 0);
        key().account(Day::at(0), address)
    }

    #[test]
    fn c166_what_a_request_says_of_itself_is_not_believed() {
        for forwarded in ["1.1.1.1", "1.1.1.2, 1.1.1.3", "192.0.2.9"] {
            let address = Address::of(Some("192.0.2.1"), &[forwarded], 0);
            assert_eq!(address, Address::V4(Ipv4Addr::new(192, 0, 2, 1)));
        }
    }

    #[test]
    fn a_trusted_proxy_s_word_is_the_last_one() {
        let of = |forwarded: &[&str], hops| Address::of(Some("192.0.2.1"), forwarded, hops);
        let v4 = |d| Address::V4(Ipv4Addr::new(198, 51, 100, d));
        assert_eq!(of(&["1.1.1.1, 198.51.100.7"], 1), v4(7));
        assert_eq!(of(&["1.1.1.1", "198.51.100.7"], 1), v4(7));
        assert_eq!(of(&["1.1.1.1, 198.51.100.7, 198.51.100.8:443"], 2), v4(7));
        // The cloud's own entry is no proxy's.
        assert_eq!(of(&["1.1.1.1, 198.51.100.7, 192.0.2.1"], 1), v4(7));
        assert_eq!(of(&["192.0.2.1"], 1), Address::Unknown);
        // Fewer than there are proxies: nothing in it is ours.
        assert_eq!(of(&["198.51.100.7"], 2), Address::Unknown);
        assert_eq!(of(&[], 1), Address::Unknown);
    }

    #[test]
    fn c167_a_household_is_one_visitor_however_it_is_written() {
        let one = account("2001:db8:1:2::1");
        for n in 1..=0x20 {
            assert_eq!(account(&format!("2001:db8:1:2::{n:x}")), one);
        }
        for same in [
            "2001:0DB8:0001:0002:0000:0000:0000:0001",
            "2001:DB8:1:2:FFFF::",
            "[2001:db8:1:2::1]:443",
            "fe80::1%eth0",
        ] {
            let expected = if same.starts_with("fe80") {
                account("fe80::2")
            } else {
                one.clone()
            };
            assert_eq!(account(same), expected, "{same}");
        }
        let next = account("2001:db8:1:3::1");
        assert_ne!(next.visitor, one.visitor);
        assert_eq!(next.network, one.network);
        assert_ne!(account("2001:db8:2:2::1").network, one.network);
        assert_eq!(account("::ffff:192.0.2.1"), account("192.0.2.1"));
        assert_eq!(account("192.0.2.1").network, None);
        assert_ne!(account("192.0.2.1"), account("192.0.2.2"));
    }

    #[test]
    fn c169_without_an_address_all_are_one_visitor() {
        for source_ip in [
            None,
            Some(""),
            Some("unknown"),
            Some("localhost"),
            Some("1.2.3"),
            Some("::g"),
        ] {
            assert_eq!(
                Address::of(source_ip, &[], 0),
                Address::Unknown,
                "{source_ip:?}"
            );
        }
    }

    #[test]
    fn c170_a_hash_is_keyed_and_changes_daily() {
        let (today, tomorrow) = (Day::at(0), Day::at(86_400));
        let address = Address::of(Some("192.0.2.1"), &[], 0);
        let today_s = key().account(today, address);
        assert_eq!(today_s, key().account(today, address));
        assert_ne!(today_s, key().account(tomorrow, address));
        let other = HashKey::new("another secret of the tests").unwrap();
        assert_ne!(today_s, other.account(today, address));
        for guess in [
            "192.0.2.1",
            "4 192.0.2.1",
            "visitor\u{0}1970-01-01\u{0}4 192.0.2.1",
        ] {
            let plain: String = Sha256::digest(guess)
                .iter()
                .map(|byte| format!("{byte:02x}"))
                .collect();
            assert!(!plain.contains(&today_s.visitor));
        }
        assert_ne!(key().question(today, "192.0.2.1"), today_s.visitor);
        assert!(HashKey::new("fifteen letters").is_none());
        assert!(!format!("{:?} {address:?}", key()).contains("192"));
    }
}
