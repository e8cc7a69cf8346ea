/** Replaces the matches of patterns in a text that arrives in pieces: the result is that for the whole text. */
import { omitUndefined } from '../../ai/domain/util/omitUndefined';
import type { FilteredText, TextFilter } from '../../ai/domain/types/GuardrailTypes';
import type { TextMatch, TextPattern } from './TextPattern';

/** What is done with a match: the text that takes its place, or the reason for a denial. */
export type MatchDecision = { readonly replacement: string } | { readonly deny: string };

/** Characters before a match that patterns look at. */
const CONTEXT = 4;

export class PatternFilter implements TextFilter {
  private readonly patterns: readonly TextPattern[];
  private readonly decide: (match: TextMatch) => MatchDecision;
  /** Text that was passed on, for context, and text that was not. */
  private buffer = '';
  private position = 0;
  /** The first half of a surrogate pair. */
  private half = '';
  private deny: string | undefined;
  private readonly counts = new Map<string, number>();

  /** @param patterns of two matches that start at the same place, that of the earlier pattern counts */
  constructor(patterns: readonly TextPattern[], decide: (match: TextMatch) => MatchDecision = (match) => match) {
    this.patterns = patterns;
    this.decide = decide;
  }

  push(text: string): FilteredText {
    const arrived = this.half + text;
    this.half = /[\ud800-\udbff]$/.exec(arrived)?.[0] ?? '';
    this.buffer += arrived.slice(0, arrived.length - this.half.length);
    return this.result(this.release(false));
  }

  end(): FilteredText {
    this.buffer += this.half;
    this.half = '';
    return this.result(this.release(true));
  }

  private release(isComplete: boolean): string {
    const released: string[] = [];
    while (this.deny === undefined) {
      const match = this.firstMatch();
      const open = isComplete ? this.buffer.length : this.openFrom();
      if (match === undefined || (!isComplete && open <= match.start)) {
        released.push(this.take(open));
        break;
      }
      released.push(this.take(match.start));
      this.position = match.end;
      const decision = this.decide(match);
      if ('deny' in decision) this.deny = decision.deny;
      else released.push(decision.replacement);
      this.counts.set(match.type, (this.counts.get(match.type) ?? 0) + 1);
    }
    const passed = Math.max(0, this.position - CONTEXT);
    this.buffer = this.buffer.slice(passed);
    this.position -= passed;
    return released.join('');
  }

  private firstMatch(): TextMatch | undefined {
    let first: TextMatch | undefined;
    for (const pattern of this.patterns) {
      const match = pattern.find(this.buffer, this.position);
      if (match !== undefined && (first === undefined || match.start < first.start)) first = match;
    }
    return first;
  }

  private openFrom(): number {
    let open = this.buffer.length;
    for (const pattern of this.patterns) open = Math.min(open, pattern.openFrom(this.buffer, this.position));
    return open;
  }

  private take(until: number): string {
    const taken = this.buffer.slice(this.position, until);
    this.position = until;
    return taken;
  }

  private result(text: string): FilteredText {
    if (this.counts.size === 0) return text;
    const found = Object.fromEntries(this.counts);
    this.counts.clear();
    return omitUndefined({ text, annotate: { found }, deny: this.deny });
  }
}
