/** Limits of a budget as the texts of a form. */
import type { Amount, BudgetLimits, BudgetWindow } from '../../business/ai/domain/entities/BudgetAccount';
import { AMOUNTS } from './describeLimits';

export type LimitName = `${BudgetWindow}.${keyof Amount}`;
export type LimitTexts = Readonly<Record<LimitName, string>>;

export const WINDOWS = ['day', 'month'] as const satisfies readonly BudgetWindow[];

export function textsOf(limits: BudgetLimits): LimitTexts {
  return Object.fromEntries(
    WINDOWS.flatMap((window) =>
      AMOUNTS.map((amount) => [`${window}.${amount}`, String(limits[window]?.[amount] ?? '')] as const),
    ),
  ) as LimitTexts;
}

export function limitsOf(texts: LimitTexts): BudgetLimits {
  return Object.fromEntries(
    WINDOWS.map((window) => [
      window,
      Object.fromEntries(
        AMOUNTS.flatMap((amount) => {
          const number = numberIn(texts[`${window}.${amount}`]);
          return number === undefined ? [] : [[amount, number]];
        }),
      ),
    ]),
  );
}

/** A text that is no number is returned as it is, for the server to refuse. */
export function numberIn(text: string): number | undefined {
  const trimmed = text.trim().replace(/^\$/, '');
  if (trimmed === '') return undefined;
  // The server checks the type.
  return Number.isNaN(Number(trimmed)) ? (trimmed as unknown as number) : Number(trimmed);
}
