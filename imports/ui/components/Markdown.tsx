/**
 * A model's text as Markdown. What the model wrote becomes React elements from a fixed list, never markup: HTML is
 * shown as text, images are links, and links lead to web and mail addresses only.
 */
import { memo, useMemo } from 'react';
import { lexer } from 'marked';
import type { Token } from 'marked';
import { cutText, wellFormed } from '../format/text';
import { FoldedText } from './FoldedText';
import { MarkdownTokens } from './MarkdownTokens';

export interface MarkdownProps {
  readonly text: string;
  /** Names the text inside a sentence, for screen readers: "the answer". */
  readonly label: string;
}

export const Markdown = memo(function Markdown({ text, label }: MarkdownProps) {
  const { tokens, rest } = useMemo(() => parse(text), [text]);
  return (
    <>
      {tokens !== undefined && (
        <div className="markdown" dir="auto">
          <MarkdownTokens tokens={tokens} />
        </div>
      )}
      {rest !== '' && (
        <FoldedText text={rest} label={label} {...(tokens === undefined ? {} : { length: 0, lines: 1 })} />
      )}
    </>
  );
});

interface ParsedText {
  readonly tokens: readonly Token[] | undefined;
  /** What follows the part that was parsed, as plain text. */
  readonly rest: string;
}

function parse(text: string): ParsedText {
  const start = text.length <= MAX_CHARACTERS ? text : cutAtParagraph(text);
  if ((start.match(/[*_]/g)?.length ?? 0) > MAX_DELIMITERS) return { tokens: undefined, rest: text };
  try {
    return { tokens: lexer(wellFormed(start)), rest: text.slice(start.length) };
  } catch {
    // The parser is recursive: thousands of nested lists or quotes exceed the call stack.
    return { tokens: undefined, rest: text };
  }
}

function cutAtParagraph(text: string): string {
  const start = cutText(text, MAX_CHARACTERS);
  const end = start.lastIndexOf('\n\n');
  return end > MAX_CHARACTERS / 2 ? start.slice(0, end) : start;
}

/** The parser's time grows with the square of either in hostile texts; at these limits it takes a tenth of a second. */
const MAX_CHARACTERS = 20_000;
const MAX_DELIMITERS = 4_000;
