/** Settings of users' budgets, from `Meteor.settings.ai.budgets` and environment variables. */
import { BUDGET_WINDOWS } from '../../ai/domain/entities/BudgetAccount';
import type { Amount, BudgetLimits } from '../../ai/domain/entities/BudgetAccount';
import { redactSecrets } from '../../ai/domain/errors/safeText';
import { isObject } from '../../ai/domain/json';
import type { BudgetSettings } from '../../ai/domain/entities/BudgetAccount';

const AMOUNTS = ['calls', 'tokens', 'money'] as const satisfies readonly (keyof Amount)[];

/** `LLM_BUDGET_DAY_CALLS`, `LLM_BUDGET_MONTH_MONEY` and so on: the budget of every user. */
export const BUDGET_VARIABLES: readonly string[] = BUDGET_WINDOWS.flatMap((window) =>
  AMOUNTS.map((what) => variableOf(window, what)),
);

/**
 * @param settings `Meteor.settings.ai.budgets`: `{ day?, month?, users? }`, each window `{ calls?, tokens?,
 *   money? }`; takes precedence over the variables
 * @param problems receives a description of everything that is invalid
 * @returns undefined if no user is limited
 */
export function readBudgetSettings(
  settings: unknown,
  valueOf: (name: string) => string | undefined,
  problems: string[],
): BudgetSettings | undefined {
  const given = readObject(settings, 'budgets', ['users', ...BUDGET_WINDOWS], problems);
  const named = Object.fromEntries(
    BUDGET_WINDOWS.flatMap((window) => {
      const amounts = Object.fromEntries(
        AMOUNTS.flatMap((what) =>
          fromVariable(variableOf(window, what), valueOf, problems).map((value) => [what, value]),
        ),
      );
      return Object.keys(amounts).length === 0 ? [] : [[window, amounts]];
    }),
  ) as BudgetLimits;
  const limits = { ...named, ...readLimits(given, 'budgets', problems) };
  const users = Object.entries(readObject(given['users'], 'budgets.users', undefined, problems)).map(
    ([userId, value]) => {
      const path = `budgets.users.${userId}`;
      return [userId, readLimits(readObject(value, path, BUDGET_WINDOWS, problems), path, problems)] as const;
    },
  );
  if (Object.keys(limits).length === 0 && users.length === 0) return undefined;
  return { ...limits, ...(users.length === 0 ? {} : { users: Object.fromEntries(users) }) };
}

function variableOf(window: string, what: string): string {
  return `LLM_BUDGET_${window}_${what}`.toUpperCase();
}

function fromVariable(
  name: string,
  valueOf: (name: string) => string | undefined,
  problems: string[],
): readonly number[] {
  const text = valueOf(name);
  if (text === undefined) return [];
  const value = Number(text);
  if (isAmount(value)) return [value];
  problems.push(`${name} must be a number of at least 0, but is "${redactSecrets(text)}"`);
  return [];
}

function readLimits(given: Readonly<Record<string, unknown>>, path: string, problems: string[]): BudgetLimits {
  return Object.fromEntries(
    BUDGET_WINDOWS.flatMap((window) => {
      if (given[window] === undefined) return [];
      const amounts = readObject(given[window], `${path}.${window}`, AMOUNTS, problems);
      for (const [what, value] of Object.entries(amounts))
        if (!isAmount(value))
          problems.push(`Meteor.settings.ai.${path}.${window}.${what} must be a number of at least 0`);
      return [[window, amounts]];
    }),
  );
}

function isAmount(value: unknown): value is number {
  return typeof value === 'number' && Number.isFinite(value) && value >= 0;
}

/** @param fields the permitted fields; absent: any */
function readObject(
  value: unknown,
  path: string,
  fields: readonly string[] | undefined,
  problems: string[],
): Readonly<Record<string, unknown>> {
  if (value === undefined || value === null) return {};
  if (!isObject(value)) {
    problems.push(`Meteor.settings.ai.${path} must be an object`);
    return {};
  }
  for (const name of Object.keys(value))
    if (fields?.includes(name) === false)
      problems.push(`Meteor.settings.ai.${path}.${name} is unknown, expected one of: ${fields.join(', ')}`);
  return value;
}
