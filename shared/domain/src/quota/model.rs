//! A hundred thousand small days, in which everything that can go wrong does, in any order.
//!
//! Processes let questions in, answer, crash, hear nothing, send twice and sweep, over a store that takes a transaction whole
//! or not at all. Whatever happened, after the last sweep the counters hold exactly the questions whose answers were settled.

use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeMap, HashSet};
use std::hash::{Hash, Hasher};

use super::*;
use crate::cost::Money;

const SCENARIOS: u64 = 100_000;
/// Scenarios whose states are told apart; of the others only what must hold is looked at.
const HASHED: u64 = 20_000;
const STEPS: u32 = 70;
const PROCESSES: usize = 3;
const TRIES: u32 = 4;
/// A handler is dead after so many seconds, and its record the sweep's.
const TIME_OUT: u64 = 60;
const MIDNIGHT: u64 = 1_796_083_200;

const LIMITS: Limits = Limits {
    visitor: 2,
    global: 8,
    budget: Some(Money::from_picodollars(60)),
};

#[derive(Debug, Default, Clone)]
struct Store {
    counters: BTreeMap<String, Counter>,
    records: BTreeMap<String, (Charge, State, Money)>,
    tokens: HashSet<(String, u64)>,
}

impl Store {
    fn counter(&self, key: CounterKey<'_>) -> Counter {
        self.counters.get(&name(key)).copied().unwrap_or_default()
    }

    fn counters(&self, day: Day, account: &Account) -> Counters {
        Counters {
            visitor: self.counter(CounterKey::Visitor(day, &account.visitor)),
            network: account
                .network
                .as_ref()
                .map(|network| self.counter(CounterKey::Network(day, network)))
                .unwrap_or_default(),
            global: self.counter(CounterKey::Global(day)),
        }
    }

    /// Why a write cannot be made, if it cannot.
    fn refuses(&self, write: &Write<'_>) -> Option<Old> {
        let old = |key| {
            self.counters
                .get(&name(key))
                .map_or(Old::Nothing, |counter| Old::Counter(*counter))
        };
        let holds = match *write {
            Write::Take {
                counter,
                below,
                commit,
                most,
            } => {
                let found = self.counter(counter);
                let affordable = most.is_none_or(|most| found.committed + commit <= most);
                (found.questions < below && affordable)
                    .then_some(())
                    .ok_or(old(counter))
            }
            Write::GiveBack {
                counter,
                refunds_below,
                ..
            } => {
                let found = self.counter(counter);
                let allowed = refunds_below.is_none_or(|most| found.refunds < most);
                (found.questions > 0 && allowed)
                    .then_some(())
                    .ok_or(old(counter))
            }
            Write::Correct { counter, .. } => match old(counter) {
                Old::Nothing => Err(Old::Nothing),
                _ => Ok(()),
            },
            Write::Open(charge) => match self.records.get(&charge.request_id) {
                Some((_, state, _)) => Err(Old::Record(*state)),
                None => Ok(()),
            },
            Write::Close { charge, .. } => match self.records.get(&charge.request_id) {
                Some((_, State::Open, _)) => Ok(()),
                Some((_, state, _)) => Err(Old::Record(*state)),
                None => Err(Old::Nothing),
            },
        };
        holds.err()
    }

    fn reasons(&self, transaction: &Transaction<'_>) -> Vec<Reason> {
        let reason = |write| self.refuses(write).map_or(Reason::None, Reason::Condition);
        transaction.writes.iter().map(reason).collect()
    }

    /// Whether this transaction was written before: the store knows a charge by its token.
    fn knows(&self, transaction: &Transaction<'_>) -> bool {
        token(transaction).is_some_and(|token| self.tokens.contains(&token))
    }

    fn send(&mut self, transaction: &Transaction<'_>) -> Reply {
        if self.knows(transaction) {
            return Reply::Written;
        }
        let reasons = self.reasons(transaction);
        if reasons.iter().any(|reason| *reason != Reason::None) {
            return Reply::Cancelled(reasons);
        }
        for write in &transaction.writes {
            self.apply(write, transaction);
        }
        self.tokens.extend(token(transaction));
        for (name, counter) in &self.counters {
            let most = match &name[..1] {
                "v" => LIMITS.visitor,
                "n" => LIMITS.network(),
                _ => LIMITS.global,
            };
            assert!(
                counter.questions <= most,
                "{name} is above its limit: {counter:?}"
            );
            assert!(
                Some(counter.committed) <= LIMITS.budget,
                "{name}: {counter:?}"
            );
        }
        Reply::Written
    }

    fn apply(&mut self, write: &Write<'_>, transaction: &Transaction<'_>) {
        match *write {
            Write::Take {
                counter, commit, ..
            } => {
                let found = self.counters.entry(name(counter)).or_default();
                found.questions += 1;
                found.committed = found.committed + commit;
                found.reserved = found.reserved + commit;
            }
            Write::GiveBack {
                counter,
                reserved,
                spent,
                ..
            } => {
                let found = self.counters.entry(name(counter)).or_default();
                found.questions = found
                    .questions
                    .checked_sub(1)
                    .expect("a counter below nothing");
                found.refunds += 1;
                found.committed = corrected(found.committed, reserved, spent);
                found.reserved = corrected(found.reserved, reserved, Money::ZERO);
            }
            Write::Correct {
                counter,
                reserved,
                spent,
            } => {
                let found = self.counters.entry(name(counter)).or_default();
                found.committed = corrected(found.committed, reserved, spent);
                found.reserved = corrected(found.reserved, reserved, Money::ZERO);
            }
            Write::Open(charge) => {
                let record = (charge.clone(), State::Open, charge.reserved);
                self.records.insert(charge.request_id.clone(), record);
            }
            Write::Close { charge, to } => {
                let spent = transaction.writes.iter().find_map(|write| match *write {
                    Write::Correct { spent, .. } => Some(spent),
                    Write::GiveBack {
                        counter: CounterKey::Global(_),
                        spent,
                        ..
                    } => Some(spent),
                    _ => None,
                });
                let record = self
                    .records
                    .get_mut(&charge.request_id)
                    .expect("an open record");
                (record.1, record.2) = (to, spent.expect("a closing that says what was spent"));
            }
        }
    }
}

fn token(transaction: &Transaction<'_>) -> Option<(String, u64)> {
    match transaction.writes.last() {
        Some(Write::Open(charge)) => Some((charge.request_id.clone(), charge.charged_at)),
        _ => None,
    }
}

fn corrected(committed: Money, reserved: Money, spent: Money) -> Money {
    let sum = committed + spent;
    let left = sum.picodollars().checked_sub(reserved.picodollars());
    Money::from_picodollars(left.expect("money below nothing"))
}

fn name(key: CounterKey<'_>) -> String {
    match key {
        CounterKey::Visitor(day, visitor) => format!("v {day} {visitor}"),
        CounterKey::Network(day, network) => format!("n {day} {network}"),
        CounterKey::Global(day) => format!("g {day}"),
    }
}

/// What a process is at.
#[derive(Debug, Clone, Hash)]
enum Doing {
    Nothing,
    LettingIn(Asked),
    Charging(Asked, u32),
    Answering(Asked),
    Closing(Asked, Closing, u32),
}

#[derive(Debug, Clone, Copy, PartialEq, Hash)]
enum Closing {
    Settle,
    Refund,
    Abandon,
}

#[derive(Debug, Clone)]
struct Asked {
    charge: Charge,
    spent: Money,
}

impl Hash for Asked {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.charge.request_id.hash(state);
    }
}

#[derive(Debug, Default)]
struct Counted {
    steps: u64,
    charges: u64,
    again: u64,
    lost_before: u64,
    lost_after: u64,
    conflicts: u64,
    throttles: u64,
    doubled: u64,
    crashes: u64,
    away: u64,
    swept: u64,
    second_handlers: u64,
    sent_away: u64,
    refused: u64,
    refunds_spent: u64,
    past_midnight: u64,
}

struct Scenario<'a> {
    chance: fastrand::Rng,
    store: Store,
    now: u64,
    away_until: u32,
    step: u32,
    asked: u32,
    processes: Vec<Doing>,
    /// Closings and charges that the network delivers a second time, later.
    late: Vec<(Charge, Option<(Closing, Money)>)>,
    /// States that a process was told of.
    told: Vec<(String, State)>,
    counted: &'a mut Counted,
}

impl Scenario<'_> {
    fn run(&mut self, mut state: impl FnMut(u64)) {
        for step in 0..STEPS {
            self.step = step;
            self.counted.steps += 1;
            self.now += self.chance.u64(0..4);
            if self.chance.u8(..) < 4 {
                self.now += TIME_OUT;
            }
            if self.chance.u8(..) < 4 {
                self.away_until = step + self.chance.u32(1..8);
            }
            match self.chance.u8(..) {
                0..8 => self.sweep(true),
                8..14 => self.deliver_late(),
                14..22 => self.crash(),
                _ => {
                    let process = self.chance.usize(..PROCESSES);
                    self.advance(process);
                }
            }
            state(self.fingerprint());
        }
        // Every handler is dead and the store is well: the next scheduled job sweeps, and what is still on its way arrives.
        self.now += 2 * TIME_OUT;
        self.away_until = 0;
        self.sweep(false);
        while !self.late.is_empty() {
            self.deliver_late();
        }
        self.sweep(false);
        self.check();
    }

    fn advance(&mut self, process: usize) {
        let doing = std::mem::replace(&mut self.processes[process], Doing::Nothing);
        // Clocks of two machines differ.
        let now = self.now + 20 * process as u64;
        self.processes[process] = match doing {
            Doing::Nothing => Doing::LettingIn(self.ask(now)),
            Doing::LettingIn(asked) => {
                let Charge {
                    day,
                    account,
                    reserved,
                    ..
                } = &asked.charge;
                let counters = self.store.counters(*day, account);
                if counters.refuse(account, &LIMITS, *reserved).is_some() {
                    self.counted.refused += 1;
                    Doing::Nothing
                } else {
                    Doing::Charging(asked, 0)
                }
            }
            Doing::Charging(asked, tries) => self.charge(asked, tries),
            Doing::Answering(asked) => {
                let closing = if self.chance.u8(..) < 100 {
                    Closing::Refund
                } else {
                    Closing::Settle
                };
                Doing::Closing(asked, closing, 0)
            }
            Doing::Closing(asked, closing, tries) => self.close(asked, closing, tries),
        };
    }

    fn ask(&mut self, now: u64) -> Asked {
        let under_way = self.processes.iter().find_map(|doing| match doing {
            Doing::Charging(asked, _) | Doing::Answering(asked) | Doing::Closing(asked, ..) => {
                Some(asked.clone())
            }
            _ => None,
        });
        if let Some(mut asked) = under_way
            && self.chance.u8(..) < 20
        {
            self.counted.second_handlers += 1;
            // Another call has another token, and its midnight may be another.
            asked.charge.charged_at = now.max(asked.charge.charged_at + 1);
            asked.charge.day = Day::at(now);
            return asked;
        }
        self.asked += 1;
        let visitor = self.chance.u8(..8);
        let reserved = 10;
        let day = Day::at(now);
        self.counted.past_midnight += u64::from(now >= MIDNIGHT);
        Asked {
            charge: Charge {
                request_id: format!("r-{}", self.asked),
                day,
                account: Account {
                    visitor: visitor.to_string(),
                    network: (visitor < 6).then(|| "n".to_owned()),
                },
                reserved: Money::from_picodollars(reserved),
                charged_at: now,
            },
            spent: Money::from_picodollars(self.chance.u128(..=reserved)),
        }
    }

    fn charge(&mut self, asked: Asked, tries: u32) -> Doing {
        let transaction = charge(&asked.charge, &LIMITS);
        let reply = self.send(&transaction);
        match judge_charge(&asked.charge, &LIMITS, &reply) {
            Verdict::Decided(Ok(())) => {
                self.counted.charges += 1;
                assert!(
                    self.store.records.contains_key(&asked.charge.request_id),
                    "nothing was charged"
                );
                Doing::Answering(asked)
            }
            Verdict::Decided(Err(ChargeRefused::Limit(refusal))) => {
                self.counted.refused += 1;
                let counters = self.store.counters(asked.charge.day, &asked.charge.account);
                let full = counters.refuse(&asked.charge.account, &LIMITS, asked.charge.reserved);
                assert_eq!(full, Some(refusal), "refused below the limit: {counters:?}");
                Doing::Nothing
            }
            Verdict::Decided(Err(ChargeRefused::Another)) => {
                let (charged, ..) = &self.store.records[&asked.charge.request_id];
                assert_ne!(
                    charged.charged_at, asked.charge.charged_at,
                    "charged, and sent away"
                );
                self.counted.sent_away += 1;
                Doing::Nothing
            }
            Verdict::Again if tries < TRIES => {
                self.counted.again += 1;
                Doing::Charging(asked, tries + 1)
            }
            // Not known: no answer is given, and the sweep finds the record if there is one.
            Verdict::Again => Doing::Nothing,
        }
    }

    fn close(&mut self, asked: Asked, closing: Closing, tries: u32) -> Doing {
        let transaction = closes(&asked.charge, closing, asked.spent);
        let reply = self.send(&transaction);
        match judge_close(&transaction, &reply) {
            Verdict::Decided(Closed::As(state)) => {
                self.told.push((asked.charge.request_id, state));
                Doing::Nothing
            }
            Verdict::Decided(Closed::RefundsSpent) => {
                self.counted.refunds_spent += 1;
                Doing::Closing(asked, Closing::Settle, 0)
            }
            Verdict::Decided(Closed::Forgotten) => Doing::Closing(asked, Closing::Abandon, 0),
            Verdict::Again if tries < TRIES => {
                self.counted.again += 1;
                Doing::Closing(asked, closing, tries + 1)
            }
            Verdict::Again => Doing::Nothing,
        }
    }

    /// Refunds what is open and older than a handler can be. What a dead handler spent nobody knows: all it had reserved.
    fn sweep(&mut self, faults: bool) {
        let old: Vec<Charge> = self
            .store
            .records
            .values()
            .filter(|(charge, state, _)| {
                *state == State::Open && charge.charged_at + TIME_OUT <= self.now
            })
            .map(|(charge, ..)| charge.clone())
            .collect();
        for charge in old {
            let mut closing = Closing::Refund;
            for _ in 0..TRIES {
                let transaction = closes(&charge, closing, charge.reserved);
                let reply = if faults {
                    self.send(&transaction)
                } else {
                    self.store.send(&transaction)
                };
                match judge_close(&transaction, &reply) {
                    Verdict::Decided(Closed::As(_)) => {
                        self.counted.swept += 1;
                        break;
                    }
                    Verdict::Decided(Closed::RefundsSpent) => closing = Closing::Settle,
                    Verdict::Decided(Closed::Forgotten) => closing = Closing::Abandon,
                    Verdict::Again => {}
                }
            }
        }
    }

    /// Sends, as a network and a busy store let it.
    fn send(&mut self, transaction: &Transaction<'_>) -> Reply {
        if self.step < self.away_until {
            self.counted.away += 1;
            return Reply::Lost;
        }
        match self.chance.u8(..) {
            0..16 => {
                self.counted.lost_before += 1;
                Reply::Lost
            }
            16..40 => {
                self.counted.lost_after += 1;
                self.store.send(transaction);
                Reply::Lost
            }
            40..52 => {
                self.counted.throttles += 1;
                Reply::Busy
            }
            52..76 if !self.store.knows(transaction) => {
                self.counted.conflicts += 1;
                let mut reasons = self.store.reasons(transaction);
                let at = self.chance.usize(..reasons.len());
                reasons[at] = Reason::Busy;
                Reply::Cancelled(reasons)
            }
            76..92 => {
                self.counted.doubled += 1;
                self.late.extend(again(transaction));
                self.store.send(transaction)
            }
            _ => self.store.send(transaction),
        }
    }

    fn deliver_late(&mut self) {
        if self.late.is_empty() {
            return;
        }
        let at = self.chance.usize(..self.late.len());
        let (charged, closing) = self.late.swap_remove(at);
        match closing {
            None => self.store.send(&charge(&charged, &LIMITS)),
            Some((closing, spent)) => self.store.send(&closes(&charged, closing, spent)),
        };
    }

    fn crash(&mut self) {
        let process = self.chance.usize(..PROCESSES);
        if !matches!(self.processes[process], Doing::Nothing) {
            self.counted.crashes += 1;
            self.processes[process] = Doing::Nothing;
        }
    }

    fn check(&self) {
        let mut questions: BTreeMap<String, u64> = BTreeMap::new();
        let mut spent: BTreeMap<String, u128> = BTreeMap::new();
        for (id, (charge, state, cost)) in &self.store.records {
            assert_ne!(*state, State::Open, "{id} was never closed");
            let Charge { day, account, .. } = charge;
            let visitor = name(CounterKey::Visitor(*day, &account.visitor));
            let network = account
                .network
                .as_ref()
                .map(|key| name(CounterKey::Network(*day, key)));
            let global = name(CounterKey::Global(*day));
            *spent.entry(global.clone()).or_default() += cost.picodollars();
            for counter in [Some(visitor), network, Some(global)].into_iter().flatten() {
                *questions.entry(counter).or_default() += u64::from(*state == State::Settled);
            }
        }
        for (name, counter) in &self.store.counters {
            assert_eq!(Some(&counter.questions), questions.get(name), "{name}");
            let money = spent.get(name).copied().unwrap_or_default();
            assert_eq!(counter.committed.picodollars(), money, "{name}");
            assert_eq!(counter.reserved, Money::ZERO, "{name}");
        }
        for (id, state) in &self.told {
            let record = &self.store.records[id];
            assert_eq!(record.1, *state, "{id} was told otherwise");
        }
    }

    fn fingerprint(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        for (name, counter) in &self.store.counters {
            (name, counter.questions, counter.refunds).hash(&mut hasher);
        }
        for (id, (_, state, _)) in &self.store.records {
            (id, *state as u8).hash(&mut hasher);
        }
        (&self.processes, self.late.len()).hash(&mut hasher);
        hasher.finish()
    }
}

fn closes(charge: &Charge, closing: Closing, spent: Money) -> Transaction<'_> {
    match closing {
        Closing::Settle => settle(charge, spent),
        Closing::Refund => refund(charge, &LIMITS, spent),
        Closing::Abandon => abandon(charge),
    }
}

/// The same transaction, to be sent once more.
fn again(transaction: &Transaction<'_>) -> Option<(Charge, Option<(Closing, Money)>)> {
    let spent = transaction.writes.iter().find_map(|write| match *write {
        Write::Correct { spent, .. } => Some((Closing::Settle, spent)),
        Write::GiveBack {
            counter: CounterKey::Global(_),
            spent,
            ..
        } => Some((Closing::Refund, spent)),
        _ => None,
    });
    match transaction.writes.last() {
        Some(Write::Open(charge)) => Some(((*charge).clone(), None)),
        Some(Write::Close { charge, .. }) => Some(((*charge).clone(), spent)),
        _ => None,
    }
}

#[test]
#[expect(
    clippy::print_stdout,
    reason = "what was explored is part of the result"
)]
fn after_the_sweep_the_counters_hold_what_was_settled() {
    let mut counted = Counted::default();
    let mut states = HashSet::new();
    for seed in 0..SCENARIOS {
        let mut scenario = Scenario {
            chance: fastrand::Rng::with_seed(seed),
            store: Store::default(),
            now: MIDNIGHT - 40,
            away_until: 0,
            step: 0,
            asked: 0,
            processes: vec![Doing::Nothing; PROCESSES],
            late: Vec::new(),
            told: Vec::new(),
            counted: &mut counted,
        };
        scenario.run(|state| {
            if seed < HASHED {
                states.insert(state);
            }
        });
    }
    println!(
        "{SCENARIOS} interleavings, {} states in the first {HASHED}, {counted:?}",
        states.len()
    );
    // A model in which nothing goes wrong shows nothing.
    let Counted {
        charges,
        lost_before,
        lost_after,
        conflicts,
        throttles,
        doubled,
        crashes,
        away,
        swept,
        second_handlers,
        sent_away,
        refused,
        refunds_spent,
        past_midnight,
        ..
    } = counted;
    for (fault, times) in [
        ("charges", charges),
        ("lost before", lost_before),
        ("lost after", lost_after),
        ("conflicts", conflicts),
        ("throttles", throttles),
        ("doubled", doubled),
        ("crashes", crashes),
        ("away", away),
        ("swept", swept),
        ("second handlers", second_handlers),
        ("sent away", sent_away),
        ("refused", refused),
        ("refunds spent", refunds_spent),
        ("past midnight", past_midnight),
    ] {
        assert!(times > 1_000, "{fault}: {times}");
    }
}
