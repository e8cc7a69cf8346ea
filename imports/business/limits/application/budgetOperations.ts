/** `ai.budgets.*` */
import * as v from 'valibot';
import type { AuditRule } from '../../../host/AuditRule';
import { defineOperation } from '../../../host/defineOperation';
import { textIn } from '../../../host/auditedText';
import { line, object } from '../../../host/schemas';
import { budgetLimitsSchema } from './budgetLimitsSchema';
import type { Budgets } from './Budgets';
import { ARGUMENT_LIMITS } from '../../ai/application/operations/readArguments';

export interface BudgetServices {
  readonly budgets: Budgets;
}

const name = v.optional(line(ARGUMENT_LIMITS.id));
const subject = { userId: name, team: name };
const example = { limits: { day: { calls: 1_000 } } };
const limitsView = v.looseObject({ limits: budgetLimitsSchema, source: v.picklist(['settings', 'dashboard', 'none']) });

const AUDITED = {
  kind: 'budget',
  id: (argument) => {
    const [userId, team] = [textIn(argument, 'userId'), textIn(argument, 'team')];
    return userId ?? (team === undefined ? 'everyone' : `team:${team}`);
  },
  owner: { field: 'userId' },
} as const satisfies Partial<AuditRule>;

export const BUDGET_OPERATIONS = [
  defineOperation({
    name: 'ai.budgets.list',
    summary: 'List budgets',
    description: 'Users get their own only. `search` is how the id, the name or the e-mail address of a user starts.',
    access: 'read',
    argument: object({ search: name }),
    result: v.looseObject({
      everyone: limitsView,
      budgets: v.array(v.looseObject({ userId: v.string(), ...limitsView.entries })),
      isTruncated: v.boolean(),
    }),
    http: 'GET /api/budgets',
    reads: ['budgets', 'runs', 'requests'],
    execute: ({ budgets }: BudgetServices, { actor, argument }) => budgets.list(actor, argument.search),
  }),
  defineOperation({
    name: 'ai.budgets.set',
    summary: 'Set the budget of a user, of a team, or of everyone who has none of their own',
    description: 'The limits replace all that the user or team had: `{}` means no limits.',
    access: 'admin',
    argument: object({ ...subject, limits: budgetLimitsSchema }),
    example,
    result: limitsView,
    http: ['POST /api/budgets/teams/:team', 'POST /api/budgets/:userId', 'POST /api/budgets'],
    changes: ['budgets'],
    audit: { action: 'budget.set', ...AUDITED, details: ['limits'] },
    execute: ({ budgets }: BudgetServices, { actor, argument: { limits, ...whose } }) =>
      budgets.set(whose, limits, actor),
  }),
  defineOperation({
    name: 'ai.budgets.remove',
    summary: 'Return to the budget of the settings',
    access: 'admin',
    argument: object(subject),
    result: limitsView,
    http: ['DELETE /api/budgets/teams/:team', 'DELETE /api/budgets/:userId', 'DELETE /api/budgets'],
    changes: ['budgets'],
    audit: { action: 'budget.remove', ...AUDITED },
    execute: ({ budgets }: BudgetServices, { actor, argument }) => budgets.remove(argument, actor),
  }),
] as const;
