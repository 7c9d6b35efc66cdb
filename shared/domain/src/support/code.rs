//! Whether a code block uses only names that its evidence knows.
//!
//! Plain SQL, placeholders that name nothing, and string literals of one word are the writer's own; every other word must
//! stand in a cited passage. Comments and longer literals are prose and are held to its rules. [`super::unsupported_code`] is
//! the caller.

/// Words of SQL as every database speaks it, and the shell words around a command.
const PLAIN_SQL: &[&str] = &[
    "select",
    "from",
    "where",
    "group",
    "by",
    "having",
    "order",
    "limit",
    "offset",
    "distinct",
    "as",
    "on",
    "join",
    "left",
    "right",
    "inner",
    "outer",
    "full",
    "cross",
    "natural",
    "using",
    "union",
    "intersect",
    "all",
    "and",
    "or",
    "not",
    "null",
    "is",
    "in",
    "like",
    "between",
    "exists",
    "case",
    "when",
    "then",
    "else",
    "end",
    "insert",
    "into",
    "values",
    "update",
    "set",
    "delete",
    "create",
    "table",
    "index",
    "view",
    "drop",
    "alter",
    "add",
    "column",
    "rename",
    "to",
    "primary",
    "key",
    "foreign",
    "references",
    "unique",
    "check",
    "constraint",
    "default",
    "begin",
    "commit",
    "rollback",
    "transaction",
    "with",
    "true",
    "false",
    "asc",
    "desc",
    "count",
    "sum",
    "min",
    "max",
    "avg",
    "cast",
    "integer",
    "int",
    "bigint",
    "smallint",
    "text",
    "varchar",
    "char",
    "numeric",
    "decimal",
    "boolean",
    "date",
    "time",
    "timestamp",
    "if",
    "any",
    "some",
    "grant",
    "revoke",
    "for",
    "of",
    "the",
    "start",
    "work",
    "user",
    "role",
    "schema",
    "database",
    "function",
    "trigger",
    "returns",
    "language",
    "sql",
    "declare",
    "reset",
    "show",
    "system",
    "sudo",
    "cd",
    "echo",
];

/// Names that say they are placeholders.
const PLACEHOLDERS: &[&str] = &[
    "mytable",
    "my_table",
    "your_table",
    "table_name",
    "tablename",
    "tab",
    "tbl",
    "mydb",
    "dbname",
    "db_name",
    "my_database",
    "mydatabase",
    "col",
    "column_name",
    "your_column",
    "my_column",
    "colname",
    "index_name",
    "my_index",
    "idx",
    "foo",
    "bar",
    "baz",
    "id",
    "name",
    "value",
    "alias",
    "new_value",
    "username",
    "my_user",
    "myuser",
    "schema_name",
    "my_schema",
    "my_view",
    "my_function",
    "example",
    "condition",
    "num",
    "file",
    "path",
    "host",
    "port",
    "out",
];

/// A word of the code that must be known, and whether it is an option or an operator.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Used {
    /// As written.
    pub(super) text: String,
    pub(super) kind: UsedKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum UsedKind {
    /// Compared without case.
    Word,
    /// `-Fc`, or a name in double quotes: compared letter for letter.
    Exact,
}

/// What a piece of code is made of.
#[derive(Debug, Default)]
pub(super) struct Code {
    pub(super) used: Vec<Used>,
    /// The text of comments and of string literals of several words.
    pub(super) prose: String,
}

/// Reads `code`.
pub(super) fn read(code: &str) -> Code {
    let mut out = Code::default();
    // In a setting the literal is a value the program must know; elsewhere it is the writer's data.
    let lower = code.to_lowercase();
    let is_setting = ["set ", "alter system", "alter role", "alter database"]
        .iter()
        .any(|lead| lower.trim_start().starts_with(lead));
    let mut own: Vec<String> = Vec::new();
    for line in lines_without_comments(code, &mut out.prose) {
        words(&line, is_setting, &mut out, &mut own);
    }
    out.used.retain(|used| {
        let lower = used.text.to_lowercase();
        !own.contains(&lower)
    });
    out
}

/// The lines of `code`, comments taken out of them.
fn lines_without_comments(code: &str, comments: &mut String) -> Vec<String> {
    let mut lines = Vec::new();
    let mut in_block = false;
    for line in code.lines() {
        if line.trim_start().starts_with("```") {
            continue;
        }
        let mut rest = line;
        let mut kept = String::new();
        while !rest.is_empty() {
            if in_block {
                let end = rest.find("*/");
                comments.push_str(&rest[..end.unwrap_or(rest.len())]);
                in_block = end.is_none();
                rest = end.map_or("", |end| &rest[end + 2..]);
                continue;
            }
            let quoted = |at: usize| rest[..at].matches('\'').count() % 2 == 1;
            let dashes = rest.match_indices("--").map(|(at, _)| at).find(|&at| {
                !quoted(at)
                    && rest[at + 2..].starts_with([' ', '\t'])
                    && (at == 0 || rest[..at].ends_with(char::is_whitespace))
            });
            let hash = rest.match_indices('#').map(|(at, _)| at).find(|&at| {
                !quoted(at)
                    && (at == 0 || rest[..at].ends_with(char::is_whitespace))
                    && rest[at + 1..].starts_with([' ', '!'])
            });
            let block = rest.find("/*").filter(|&at| !quoted(at));
            let line_comment = [dashes, hash].into_iter().flatten().min();
            match (line_comment, block) {
                (Some(at), block) if block.is_none_or(|block| at < block) => {
                    kept.push_str(&rest[..at]);
                    comments.push_str(rest[at..].trim_start_matches(['-', '#']));
                    rest = "";
                }
                (_, Some(at)) => {
                    kept.push_str(&rest[..at]);
                    rest = &rest[at + 2..];
                    in_block = true;
                }
                (_, None) => {
                    kept.push_str(rest);
                    rest = "";
                }
            }
        }
        comments.push('\n');
        lines.push(kept);
    }
    lines
}

/// The words of one line that must be known, and the names the line gives itself.
fn words(line: &str, is_setting: bool, out: &mut Code, own: &mut Vec<String>) {
    let Code { used, prose } = out;
    let chars: Vec<char> = line.chars().collect();
    let mut at = 0;
    let mut previous = String::new();
    while at < chars.len() {
        let c = chars[at];
        match c {
            '\'' | '"' => {
                let end = (at + 1..chars.len())
                    .find(|&end| chars[end] == c)
                    .unwrap_or(chars.len());
                let inner: String = chars[at + 1..end].iter().collect();
                if c == '"' && !inner.is_empty() && inner.chars().all(is_name) {
                    push(used, &inner, UsedKind::Exact);
                } else if c == '\'' && is_setting {
                    for word in inner.split(|c: char| !is_name(c)) {
                        if word.starts_with(|c: char| c.is_alphabetic() || c == '_') {
                            push(used, word, UsedKind::Word);
                        }
                    }
                } else if inner.trim().contains(char::is_whitespace) {
                    prose.push_str(&inner);
                    prose.push('\n');
                }
                at = end + 1;
            }
            '-' if chars
                .get(at + 1)
                .is_some_and(|c| c.is_ascii_alphabetic() || *c == '-')
                && at
                    .checked_sub(1)
                    .is_none_or(|before| chars[before].is_whitespace()) =>
            {
                let end = (at + 1..chars.len())
                    .find(|&end| {
                        !(chars[end].is_ascii_alphanumeric() || matches!(chars[end], '-' | '_'))
                    })
                    .unwrap_or(chars.len());
                let option: String = chars[at..end].iter().collect();
                if option.trim_matches('-').chars().count() > 0 {
                    push(used, &option, UsedKind::Exact);
                }
                at = end;
            }
            '>' | '<'
                if chars.get(at + 1) == Some(&' ')
                    && line
                        .trim_start()
                        .starts_with(|c: char| c.is_ascii_lowercase())
                    && is_shell(line) =>
            {
                // What a shell reads from or writes to is the writer's own file.
                at = (at + 2..chars.len())
                    .find(|&end| chars[end].is_whitespace())
                    .unwrap_or(chars.len());
            }
            _ if c.is_alphabetic() || c == '_' => {
                let mut end = (at..chars.len())
                    .find(|&end| !is_name(chars[end]))
                    .unwrap_or(chars.len());
                let text: String = chars[at..end].iter().collect();
                let lower = text.to_lowercase();
                if previous == "as" && !line.to_lowercase().contains("cast") {
                    own.push(lower.clone());
                }
                let follows: String = chars[end..].iter().collect::<String>().to_lowercase();
                if follows.trim_start().starts_with("as (")
                    || follows.trim_start().starts_with("as materialized (")
                {
                    own.push(lower.clone());
                }
                if chars.get(end) == Some(&'.') && own.contains(&lower) {
                    end += 1;
                }
                push(used, &text, UsedKind::Word);
                previous = lower;
                at = end;
            }
            _ if c.is_ascii_digit() || c == '$' => {
                at = (at + 1..chars.len())
                    .find(|&end| !is_name(chars[end]))
                    .unwrap_or(chars.len());
            }
            _ => at += 1,
        }
    }
}

fn is_shell(line: &str) -> bool {
    let first = line.split_whitespace().next().unwrap_or_default();
    !PLAIN_SQL.contains(&first)
}

fn push(used: &mut Vec<Used>, text: &str, kind: UsedKind) {
    let lower = text.to_lowercase();
    let is_plain = kind == UsedKind::Word
        && (PLAIN_SQL.contains(&lower.as_str())
            || PLACEHOLDERS.contains(&lower.as_str())
            || is_numbered_placeholder(&lower));
    if is_plain
        || used
            .iter()
            .any(|known| known.text == text && known.kind == kind)
    {
        return;
    }
    used.push(Used {
        text: text.to_owned(),
        kind,
    });
}

/// `t`, `t1`, `col2`, `x`: a letter, or a placeholder with a digit.
fn is_numbered_placeholder(lower: &str) -> bool {
    let stem = lower.trim_end_matches(|c: char| c.is_ascii_digit());
    stem.chars().count() <= 1
        || (stem.len() < lower.len() && PLACEHOLDERS.contains(&stem.trim_end_matches('_')))
}

fn is_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

#[cfg(test)]
mod tests {
    use super::read;

    #[track_caller]
    fn check(code: &str, expected: &[&str]) {
        let used = read(code).used;
        let texts: Vec<_> = used.iter().map(|used| used.text.as_str()).collect();
        assert_eq!(texts, expected, "{code:?}");
    }

    #[test]
    fn plain_sql_and_placeholders_need_no_evidence() {
        check(
            "SELECT count(*) FROM my_table t1 WHERE x = 'anything at all' ORDER BY col2 DESC;",
            &[],
        );
        check(
            "CREATE INDEX CONCURRENTLY idx ON my_table (col1);",
            &["CONCURRENTLY"],
        );
        check(
            "SELECT jsonb_agg(x) FROM t; -- jsonb_foo is not used",
            &["jsonb_agg"],
        );
        check(
            "WITH moved AS (DELETE FROM t RETURNING id) SELECT * FROM moved;",
            &["RETURNING"],
        );
    }

    #[test]
    fn settings_options_and_quoted_names_do() {
        check(
            "ALTER SYSTEM SET wal_level = 'logical';",
            &["wal_level", "logical"],
        );
        check(
            "pg_dump -Fc --jobs=4 mydb > my dump.file",
            &["pg_dump", "-Fc", "--jobs", "dump"],
        );
        check("SELECT \"MyName\" FROM t", &["MyName"]);
        check("```sql\nSELECT 1;\n```", &[]);
    }

    #[test]
    fn comments_are_kept_apart() {
        let code = read("SELECT 1; -- the default is 5\n/* and\n so on */ SELECT 2;\n# or 6");
        assert_eq!(code.used, []);
        assert_eq!(
            code.prose.split_whitespace().collect::<Vec<_>>(),
            ["the", "default", "is", "5", "and", "so", "on", "or", "6"]
        );
    }
}
