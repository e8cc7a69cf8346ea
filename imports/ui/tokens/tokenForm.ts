/** What can be changed of a token, as the texts of a form. */
import type { RateLimits } from '../../business/ai/domain/types/ApiTokenLimits';
import { limitsOf, numberIn, textsOf } from '../budgets/limitTexts';
import type { LimitTexts } from '../budgets/limitTexts';
import type { ArgumentOf } from '../data/operations';
import { textOfTools, toolsIn } from '../format/toolList';
import type { ApiTokenView } from './ApiTokenView';

type TokenChange = Omit<ArgumentOf<'ai.tokens.update'>, 'id' | 'userId'>;
type NewToken = Omit<ArgumentOf<'ai.tokens.create'>, 'scopes' | 'userId' | 'expiresAt'>;

export interface TokenTexts {
  readonly name: string;
  readonly team: string;
  /** Separated by commas, as are models and tools. */
  readonly tags: string;
  readonly models: string;
  readonly tools: string;
  readonly budgets: LimitTexts;
  readonly rates: Readonly<Record<keyof RateLimits, string>>;
}

export const RATES = [
  'requestsPerMinute',
  'tokensPerMinute',
  'parallel',
] as const satisfies readonly (keyof RateLimits)[];

export function tokenTexts(token?: Partial<ApiTokenView>): TokenTexts {
  const { name = '', team = '', tags = [], models = [], tools, budgets = {}, rateLimits = {} } = token ?? {};
  return {
    name,
    team,
    tags: tags.join(', '),
    models: models.join(', '),
    tools: textOfTools(tools, ', '),
    budgets: textsOf(budgets),
    rates: {
      requestsPerMinute: String(rateLimits.requestsPerMinute ?? ''),
      tokensPerMinute: String(rateLimits.tokensPerMinute ?? ''),
      parallel: String(rateLimits.parallel ?? ''),
    },
  };
}

/** The fields whose text differs from what it was. Empty ones are null. */
export function changedFields(texts: TokenTexts, before: TokenTexts): TokenChange {
  const fields = {
    name: texts.name.trim(),
    team: orNull(texts.team.trim()),
    tags: orNull(partsOf(texts.tags)),
    models: orNull(partsOf(texts.models)),
    tools: toolsIn(texts.tools),
    budgets: limitsOf(texts.budgets),
    rateLimits: ratesOf(texts.rates),
  };
  const isSame = {
    name: texts.name === before.name,
    team: texts.team === before.team,
    tags: texts.tags === before.tags,
    models: texts.models === before.models,
    tools: texts.tools === before.tools,
    budgets: JSON.stringify(texts.budgets) === JSON.stringify(before.budgets),
    rateLimits: JSON.stringify(texts.rates) === JSON.stringify(before.rates),
  };
  return Object.fromEntries(Object.entries(fields).filter(([field]) => !isSame[field as keyof typeof isSame]));
}

/** Returns the fields of a new token without empty ones, except for the name, which the server demands. */
export function newFields(texts: TokenTexts): NewToken {
  const changed = Object.entries(changedFields(texts, tokenTexts())).filter(([, value]) => value !== null);
  return { name: '', ...Object.fromEntries(changed) };
}

function ratesOf(texts: TokenTexts['rates']): RateLimits {
  return Object.fromEntries(
    RATES.flatMap((name) => {
      const number = numberIn(texts[name]);
      return number === undefined ? [] : [[name, number]];
    }),
  );
}

function partsOf(text: string): readonly string[] {
  return text
    .split(/[,\n]/)
    .map((part) => part.trim())
    .filter((part) => part !== '');
}

function orNull<T extends string | readonly string[]>(value: T): T | null {
  return value.length === 0 ? null : value;
}
