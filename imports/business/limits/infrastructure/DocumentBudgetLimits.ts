/** Budget limits in a document collection: one document per user or team, and one for all other users. */
import { BUDGET_WINDOWS } from '../../ai/domain/entities/BudgetAccount';
import type { Amount, BudgetLimits, BudgetWindow } from '../../ai/domain/entities/BudgetAccount';
import { omitUndefined } from '../../ai/domain/util/omitUndefined';
import type { BudgetLimitStore, StoredBudgetLimits } from '../domain/BudgetLimitStore';
import type { DocumentCollection, StoredDocument } from '../../../database/DocumentCollection';
import { budgetId, selectIds } from './DocumentBudgetStore';
import type { BudgetKind } from './DocumentBudgetStore';
import { insertNew } from '../../../database/insertNew';

export const BUDGET_LIMITS = 'ai_budget_limits';

type LimitField = `${BudgetWindow}_${keyof Amount}`;

export type BudgetLimitDocument = StoredDocument & {
  readonly userId?: string;
  readonly changedAt: number;
  readonly changedBy?: string;
} & { readonly [F in LimitField]?: number };

/** Cannot be a user's, whose ids have a prefix. */
const EVERYONE = 'everyone';
const AMOUNTS = ['calls', 'tokens', 'money'] as const satisfies readonly (keyof Amount)[];
const LIMIT_FIELDS: readonly LimitField[] = BUDGET_WINDOWS.flatMap((window) =>
  AMOUNTS.map((amount): LimitField => `${window}_${amount}`),
);

export class DocumentBudgetLimits implements BudgetLimitStore {
  private readonly collection: DocumentCollection<BudgetLimitDocument>;
  private readonly kind: BudgetKind;

  /** @param kind whose limits these are; all kinds may share a collection */
  constructor(collection: DocumentCollection<BudgetLimitDocument>, kind: BudgetKind = 'user') {
    this.collection = collection;
    this.kind = kind;
  }

  async find(userId: string | undefined): Promise<StoredBudgetLimits | undefined> {
    const document = await this.collection.findOne({ _id: this.idOf(userId) });
    return document === undefined ? undefined : fromDocument(document);
  }

  async ofUsers(limit: number, userIdStart = ''): Promise<readonly StoredBudgetLimits[]> {
    return (await this.collection.find(selectIds(userIdStart, this.kind), { sort: { _id: 1 }, limit })).map(
      fromDocument,
    );
  }

  async set({ userId, limits, changedAt, changedBy }: StoredBudgetLimits): Promise<void> {
    const _id = this.idOf(userId);
    const fields: Record<string, unknown> = omitUndefined({ ...toFields(limits), userId, changedAt, changedBy });
    const absent = LIMIT_FIELDS.filter((name) => !(name in fields));
    const $unset = Object.fromEntries(absent.map((name) => [name, true as const]));
    const modifier = { $set: fields, $unset };
    if ((await this.collection.update({ _id }, modifier)) === 1) return;
    // If not, another process has set them a moment ago.
    if (!(await insertNew(this.collection, { _id, ...fields } as BudgetLimitDocument)))
      await this.collection.update({ _id }, modifier);
  }

  async remove(userId: string | undefined): Promise<boolean> {
    return (await this.collection.remove({ _id: this.idOf(userId) })) === 1;
  }

  private idOf(id: string | undefined): string {
    if (id !== undefined) return budgetId(id, this.kind);
    return this.kind === 'user' ? EVERYONE : `${EVERYONE} ${this.kind}`;
  }
}

function toFields(limits: BudgetLimits): Partial<Record<LimitField, number>> {
  return Object.fromEntries(
    BUDGET_WINDOWS.flatMap((window) =>
      Object.entries(limits[window] ?? {}).map(([amount, value]) => [`${window}_${amount}`, value]),
    ),
  );
}

function fromDocument(document: BudgetLimitDocument): StoredBudgetLimits {
  const { userId, changedAt, changedBy } = document;
  const limits = Object.fromEntries(
    BUDGET_WINDOWS.flatMap((window) => {
      const amounts = AMOUNTS.flatMap((amount) => {
        const value = document[`${window}_${amount}`];
        return value === undefined ? [] : [[amount, value] as const];
      });
      return amounts.length === 0 ? [] : [[window, Object.fromEntries(amounts)] as const];
    }),
  ) as BudgetLimits;
  return omitUndefined({ userId, limits, changedAt, changedBy });
}
