//! From words to an expression.

use super::token::{Token, tokens};
use super::{Comparison, Expression, Function, Kind, QueryError, Value};

/// How deep parentheses may nest.
const DEEPEST: usize = 64;
/// How many `&&` and `||` there may be: an expression is as deep as it has parts.
const MOST_PARTS: usize = 256;

/// Reads a query.
///
/// # Errors
/// The first mistake, with its place.
pub fn parse(query: &str) -> Result<Expression, QueryError> {
    let mut parser = Parser {
        query,
        tokens: tokens(query)?,
        next: 0,
        depth: 0,
        parts: 0,
    };
    let expression = parser.either()?;
    match parser.peek() {
        Token::End => Ok(expression),
        _ => Err(parser.unexpected("the end")),
    }
}

struct Parser<'a> {
    query: &'a str,
    tokens: Vec<(usize, Token)>,
    next: usize,
    depth: usize,
    parts: usize,
}

impl Parser<'_> {
    fn peek(&self) -> &Token {
        self.tokens
            .get(self.next)
            .map_or(&Token::End, |(_, token)| token)
    }

    fn at(&self) -> usize {
        self.tokens
            .get(self.next)
            .map_or(self.query.chars().count(), |(at, _)| *at)
    }

    fn take(&mut self, sign: &str) -> bool {
        let fits = matches!(self.peek(), Token::Sign(found) if *found == sign);
        self.next += usize::from(fits);
        fits
    }

    fn expect(&mut self, sign: &str) -> Result<(), QueryError> {
        if self.take(sign) {
            Ok(())
        } else {
            Err(self.unexpected(&format!("\"{sign}\"")))
        }
    }

    fn fail(&self, at: usize, problem: String) -> QueryError {
        QueryError {
            query: self.query.into(),
            at,
            problem,
        }
    }

    fn unexpected(&self, wanted: &str) -> QueryError {
        let found = match self.peek() {
            Token::Name(name) => format!("\"{name}\""),
            Token::Text(text) => format!("\"{text}\""),
            Token::Number(number) => number.to_string(),
            Token::Sign(sign) => format!("\"{sign}\""),
            Token::End => "the end".into(),
        };
        self.fail(self.at(), format!("expected {wanted}, found {found}"))
    }

    fn either(&mut self) -> Result<Expression, QueryError> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(self.fail(self.at(), "it nests too deep".into()));
        }
        let mut left = self.both()?;
        loop {
            let at = self.at();
            if !self.take("||") {
                self.depth -= 1;
                return Ok(left);
            }
            self.another(at)?;
            let right = self.both()?;
            let kind = Kind::Or(Box::new(left), Box::new(right));
            left = Expression { at, kind };
        }
    }

    fn both(&mut self) -> Result<Expression, QueryError> {
        let mut left = self.comparison()?;
        loop {
            let at = self.at();
            if !self.take("&&") {
                return Ok(left);
            }
            self.another(at)?;
            let right = self.comparison()?;
            let kind = Kind::And(Box::new(left), Box::new(right));
            left = Expression { at, kind };
        }
    }

    /// Counts what is tied to what was before.
    fn another(&mut self, at: usize) -> Result<(), QueryError> {
        self.parts += 1;
        if self.parts > MOST_PARTS {
            let problem = format!("it has more than {MOST_PARTS} && and ||: ask in several calls");
            return Err(self.fail(at, problem));
        }
        Ok(())
    }

    fn comparison(&mut self) -> Result<Expression, QueryError> {
        let left = self.value()?;
        let at = self.at();
        let comparison = match self.peek() {
            Token::Sign("==") => Comparison::Equal,
            Token::Sign("!=") => Comparison::NotEqual,
            Token::Sign("<") => Comparison::Less,
            Token::Sign("<=") => Comparison::LessOrEqual,
            Token::Sign(">") => Comparison::Greater,
            Token::Sign(">=") => Comparison::GreaterOrEqual,
            _ => return Ok(left),
        };
        self.next += 1;
        let right = self.value()?;
        let kind = Kind::Compare(comparison, Box::new(left), Box::new(right));
        Ok(Expression { at, kind })
    }

    fn value(&mut self) -> Result<Expression, QueryError> {
        let at = self.at();
        let literal = |value| Kind::Literal(value);
        let kind = match self.peek().clone() {
            Token::Text(text) => {
                self.next += 1;
                literal(Value::Text(text))
            }
            Token::Number(number) => {
                self.next += 1;
                literal(Value::Number(number))
            }
            Token::Sign("(") => {
                self.next += 1;
                let inner = self.either()?;
                self.expect(")")?;
                return Ok(inner);
            }
            Token::Name(name) => {
                self.next += 1;
                match name.as_str() {
                    "true" | "false" => literal(Value::Truth(name == "true")),
                    _ if self.take("(") => self.call(at, &name)?,
                    _ => self.path(name)?,
                }
            }
            _ => return Err(self.unexpected("a value")),
        };
        Ok(Expression { at, kind })
    }

    fn path(&mut self, first: String) -> Result<Kind, QueryError> {
        let mut path = vec![first];
        while self.take(".") {
            match self.peek().clone() {
                Token::Name(name) => {
                    self.next += 1;
                    path.push(name);
                }
                _ => return Err(self.unexpected("a name")),
            }
        }
        Ok(Kind::Name(path))
    }

    fn call(&mut self, at: usize, name: &str) -> Result<Kind, QueryError> {
        if name == "forEach" {
            let things = self.either()?;
            self.expect(",")?;
            let Token::Name(name) = self.peek().clone() else {
                return Err(self.unexpected("a name"));
            };
            self.next += 1;
            self.expect("=>")?;
            let body = self.either()?;
            self.expect(")")?;
            return Ok(Kind::ForEach {
                things: Box::new(things),
                name,
                body: Box::new(body),
            });
        }
        let (function, count) = match name {
            "len" => (Function::Length, 1),
            "startsWith" => (Function::StartsWith, 2),
            "endsWith" => (Function::EndsWith, 2),
            _ => return Err(self.fail(at, format!("unknown function \"{name}\""))),
        };
        let mut arguments = Vec::new();
        for number in 0..count {
            if number > 0 {
                self.expect(",")?;
            }
            arguments.push(self.either()?);
        }
        self.expect(")")?;
        Ok(Kind::Call(function, arguments))
    }
}
