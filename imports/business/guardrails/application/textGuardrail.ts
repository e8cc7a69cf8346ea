/** Guardrails that look for patterns in the texts of requests and responses. */
import type { Guardrail } from '../../ai/domain/interfaces/Guardrail';
import type { GuardrailScope } from '../../ai/domain/types/GuardrailSettings';
import type { GuardedRequest, GuardrailVerdict } from '../../ai/domain/types/GuardrailTypes';
import { canonicalJson } from '../../ai/domain/util/canonicalJson';
import { mapStrings } from './mapStrings';
import { PatternFilter } from './PatternFilter';
import type { MatchDecision } from './PatternFilter';
import type { TextMatch, TextPattern } from './TextPattern';

export interface TextGuardrailOptions {
  readonly name: string;
  /** What decides, for the version. */
  readonly settings: object;
  readonly scopes: readonly GuardrailScope[];
  readonly patterns: () => readonly TextPattern[];
  readonly decide?: (match: TextMatch) => MatchDecision;
}

export function textGuardrail({ name, settings, scopes, patterns, decide }: TextGuardrailOptions): Guardrail {
  const createFilter = (): PatternFilter => new PatternFilter(patterns(), decide);
  return {
    name,
    version: canonicalJson(settings),
    ...(scopes.includes('request') ? { before: (request) => checkTexts(request, createFilter) } : {}),
    ...(scopes.includes('response') ? { during: createFilter } : {}),
  };
}

async function checkTexts(
  request: GuardedRequest,
  createFilter: () => PatternFilter,
): Promise<GuardrailVerdict<GuardedRequest> | undefined> {
  const found: Record<string, number> = {};
  let deny: string | undefined;
  const filterText = (text: string): string => {
    const filter = createFilter();
    const parts = [filter.push(text), filter.end()];
    return parts
      .map((part) => {
        if (typeof part === 'string') return part;
        deny ??= part.deny;
        for (const [type, count] of Object.entries(part.annotate?.['found'] ?? {}))
          found[type] = (found[type] ?? 0) + Number(count);
        return part.text;
      })
      .join('');
  };
  const changed = await mapStrings(request, filterText, (name, path) => {
    if (filterText(name) !== name)
      deny ??= `"${path}" contains what it masks, and would not work with another text. Rename it.`;
  });
  if (Object.keys(found).length === 0) return undefined;
  return { annotate: { found }, ...(deny === undefined ? { change: changed } : { deny }) };
}
