//! What a query says of properties.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use super::{Comparison, Expression, Function, Kind, Properties, QueryError, Value};

/// The answer of a query, and the properties that it looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// Whether it is true.
    pub holds: bool,
    /// The properties of the thing itself that were looked at, lists aside.
    pub seen: BTreeMap<String, Value>,
}

/// Asks a query of a thing.
///
/// # Errors
/// A name that the thing does not have, or values that do not go together; with its place.
pub fn evaluate(
    query: &str,
    expression: &Expression,
    thing: &Properties,
) -> Result<Answer, QueryError> {
    let mut evaluation = Evaluation {
        query,
        thing,
        named: Vec::new(),
        seen: BTreeMap::new(),
    };
    let holds = evaluation.truth(expression)?;
    Ok(Answer {
        holds,
        seen: evaluation.seen,
    })
}

struct Evaluation<'a> {
    query: &'a str,
    thing: &'a Properties,
    /// What the names of enclosing `forEach` stand for, the innermost last.
    named: Vec<(String, Properties)>,
    seen: BTreeMap<String, Value>,
}

impl Evaluation<'_> {
    fn fail<T>(&self, expression: &Expression, problem: String) -> Result<T, QueryError> {
        Err(QueryError {
            query: self.query.into(),
            at: expression.at,
            problem,
        })
    }

    fn truth(&mut self, expression: &Expression) -> Result<bool, QueryError> {
        match self.value(expression)? {
            Value::Truth(truth) => Ok(truth),
            other => {
                let problem = format!("{} is neither true nor false", other.described());
                self.fail(expression, problem)
            }
        }
    }

    fn value(&mut self, expression: &Expression) -> Result<Value, QueryError> {
        Ok(match &expression.kind {
            Kind::Literal(value) => value.clone(),
            Kind::Name(path) => self.named_value(expression, path)?,
            // Both sides are looked at, so that a mistake in either is told at once.
            Kind::And(left, right) => {
                let (left, right) = (self.truth(left)?, self.truth(right)?);
                Value::Truth(left && right)
            }
            Kind::Or(left, right) => {
                let (left, right) = (self.truth(left)?, self.truth(right)?);
                Value::Truth(left || right)
            }
            Kind::Compare(comparison, left, right) => {
                let (left, right) = (self.value(left)?, self.value(right)?);
                Value::Truth(self.compare(expression, *comparison, &left, &right)?)
            }
            Kind::Call(function, arguments) => self.call(expression, *function, arguments)?,
            Kind::ForEach { things, name, body } => {
                let all = match self.value(things)? {
                    Value::Things(all) => all,
                    other => {
                        let problem =
                            format!("forEach needs a list, this is {}", other.described());
                        return self.fail(things, problem);
                    }
                };
                let mut holds = !all.is_empty();
                for thing in all {
                    self.named.push((name.clone(), thing));
                    let one = self.truth(body);
                    self.named.pop();
                    holds &= one?;
                }
                Value::Truth(holds)
            }
        })
    }

    fn named_value(
        &mut self,
        expression: &Expression,
        path: &[String],
    ) -> Result<Value, QueryError> {
        let unknown = |properties: &Properties| {
            let known: Vec<&str> = properties.keys().map(String::as_str).collect();
            format!(
                "unknown name \"{}\"; known: {}",
                path.join("."),
                known.join(" ")
            )
        };
        match path {
            [name] => match self.thing.get(name) {
                Some(value) => {
                    if !matches!(value, Value::Things(_)) {
                        self.seen.insert(name.clone(), value.clone());
                    }
                    Ok(value.clone())
                }
                None => self.fail(expression, unknown(self.thing)),
            },
            [name, property] => {
                let known = self.named.iter().rev().find(|(known, _)| known == name);
                match known {
                    Some((_, thing)) => match thing.get(property) {
                        Some(value) => Ok(value.clone()),
                        None => self.fail(expression, unknown(thing)),
                    },
                    None => self.fail(expression, unknown(self.thing)),
                }
            }
            _ => self.fail(expression, unknown(self.thing)),
        }
    }

    fn compare(
        &self,
        expression: &Expression,
        comparison: Comparison,
        left: &Value,
        right: &Value,
    ) -> Result<bool, QueryError> {
        let order = match (left, right) {
            (Value::Text(left), Value::Text(right)) => left.cmp(right),
            (Value::Number(left), Value::Number(right)) => left.cmp(right),
            (Value::Truth(left), Value::Truth(right)) => left.cmp(right),
            _ => {
                let (left, right) = (left.described(), right.described());
                return self.fail(expression, format!("cannot compare {left} with {right}"));
            }
        };
        Ok(match comparison {
            Comparison::Equal => order == Ordering::Equal,
            Comparison::NotEqual => order != Ordering::Equal,
            Comparison::Less => order == Ordering::Less,
            Comparison::LessOrEqual => order != Ordering::Greater,
            Comparison::Greater => order == Ordering::Greater,
            Comparison::GreaterOrEqual => order != Ordering::Less,
        })
    }

    fn call(
        &mut self,
        expression: &Expression,
        function: Function,
        arguments: &[Expression],
    ) -> Result<Value, QueryError> {
        let values: Result<Vec<Value>, QueryError> = arguments
            .iter()
            .map(|argument| self.value(argument))
            .collect();
        match (function, values?.as_slice()) {
            (Function::Length, [Value::Things(things)]) => Ok(length(things.len())),
            (Function::Length, [Value::Text(text)]) => Ok(length(text.chars().count())),
            (Function::StartsWith, [Value::Text(text), Value::Text(start)]) => {
                Ok(Value::Truth(text.starts_with(start.as_str())))
            }
            (Function::EndsWith, [Value::Text(text), Value::Text(end)]) => {
                Ok(Value::Truth(text.ends_with(end.as_str())))
            }
            (Function::Length, _) => self.fail(expression, "len needs a list or a text".into()),
            (_, _) => self.fail(expression, "it needs two texts".into()),
        }
    }
}

fn length(count: usize) -> Value {
    Value::Number(i64::try_from(count).unwrap_or(i64::MAX))
}
