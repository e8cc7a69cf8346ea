/** Finds matches in a text of which more may arrive. */

export interface TextMatch {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly replacement: string;
}

export interface TextPatternOptions {
  readonly type: string;
  readonly replacement: string;
  /** Global and Unicode. It looks at no more than one character after the match. */
  readonly candidate: RegExp;
  /** Matches every beginning of a candidate, and candidates that may still grow, at the end of a text. */
  readonly open: RegExp;
  /** The length of the match within a candidate; 0 if it is none. Default: the entire candidate. */
  readonly accept?: (candidate: string) => number;
}

/** A pattern whose candidates are found by a regular expression and checked by code, such as a checksum. */
export class TextPattern {
  private readonly options: TextPatternOptions;

  constructor(options: TextPatternOptions) {
    this.options = options;
  }

  /** The first match that starts at or after `from`. */
  find(text: string, from: number): TextMatch | undefined {
    const { candidate, accept, type, replacement } = this.options;
    candidate.lastIndex = from;
    for (let found = candidate.exec(text); found !== null; found = candidate.exec(text)) {
      const length = accept === undefined ? found[0].length : accept(found[0]);
      if (length > 0) return { type, start: found.index, end: found.index + length, replacement };
      // Another candidate may start within this one.
      candidate.lastIndex = found.index + ((text.codePointAt(found.index) ?? 0) > 0xffff ? 2 : 1);
    }
    return undefined;
  }

  /**
   * Where the earliest part starts, at or after `from`, that reaches to the end of the text and might be or become a
   * match when more text follows; the length of the text if there is none.
   */
  openFrom(text: string, from: number): number {
    const { open } = this.options;
    open.lastIndex = from;
    return open.exec(text)?.index ?? text.length;
  }
}
