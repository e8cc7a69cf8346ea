/**
 * Budgets in a document collection, one document per user, API token or team. Used amounts are plain fields, holds are
 * JSON.
 */
import { BUDGET_WINDOWS, endOfWindow } from '../../ai/domain/entities/BudgetAccount';
import type { Amount, BudgetAccount, BudgetWindow, UsedAmount } from '../../ai/domain/entities/BudgetAccount';
import type { BudgetAccountReader, BudgetStore, StoredBudget } from '../domain/BudgetStore';
import type { DocumentCollection, Selector, StoredDocument } from '../../../database/DocumentCollection';
import { replaceAccount } from './replaceAccount';

export const BUDGETS = 'ai_budgets';

export type BudgetDocument = StoredDocument & {
  readonly revision: number;
  readonly day: string;
  readonly month: string;
  /** `holds` is JSON of the reservations of calls in progress, `paid` of the turns paid last. */
  readonly holds: string;
  readonly paid: string;
  readonly expiresAt: Date;
} & { readonly [F in `${BudgetWindow}_${keyof Amount}`]: number } & {
  readonly [F in `${BudgetWindow}_unpriced`]?: number;
};

/** Whose budgets a store holds. */
export type BudgetKind = 'user' | 'token' | 'team';

export type BudgetCollection = DocumentCollection<BudgetDocument>;

/** A document outlives its windows by this much, so that holds from before their end can still be settled. */
const GRACE_PERIOD_MS = 86_400_000;

export class DocumentBudgetStore implements BudgetStore, BudgetAccountReader {
  private readonly collection: BudgetCollection;
  private readonly kind: BudgetKind;

  /** @param kind whose budgets these are; all kinds may share a collection */
  constructor(collection: BudgetCollection, kind: BudgetKind = 'user') {
    this.collection = collection;
    this.kind = kind;
  }

  /** Safe to call again. */
  async ready(): Promise<void> {
    await this.collection.ensureIndex({ expiresAt: 1 }, { expireAfterSeconds: 0 });
    await this.collection.ensureIndex({ month: 1, month_money: -1 });
  }

  async find(userId: string): Promise<StoredBudget | undefined> {
    const document = await this.collection.findOne({ _id: budgetId(userId, this.kind) });
    return document === undefined ? undefined : { revision: document.revision, account: toAccount(userId, document) };
  }

  replace(account: BudgetAccount, revision: number): Promise<boolean> {
    return replaceAccount(this.collection, budgetId(account.userId, this.kind), revision, fromAccount(account));
  }

  async ofMonth(month: string, limit: number, userIdStart = ''): Promise<readonly BudgetAccount[]> {
    const found = await this.collection.find(
      { month, ...selectIds(userIdStart, this.kind) },
      { sort: { month_money: -1 }, limit },
    );
    return found.map((document) => toAccount(idOfBudget(document._id), document));
  }
}

/** Selects the documents of those whose ids start with the text; all for ''. */
export function selectIds(idStart: string, kind: BudgetKind = 'user'): Selector {
  const start = budgetId(idStart, kind);
  // The escaped ids consist of ASCII characters.
  return { _id: { $gte: start, $lt: `${start}\uffff` } };
}

/** Whose document it is. */
function idOfBudget(_id: string): string {
  return decodeURIComponent(_id.slice(_id.indexOf('/') + 1));
}

/** Prefixed and escaped, since user ids may contain anything. */
export function budgetId(id: string, kind: BudgetKind = 'user'): string {
  return `${kind}/${encodeURIComponent(id.toWellFormed())}`;
}

function fromAccount({ day, month, used, holds, paid }: BudgetAccount): Omit<BudgetDocument, '_id' | 'revision'> {
  return {
    day,
    month,
    day_calls: used.day.calls,
    day_tokens: used.day.tokens,
    day_money: used.day.money,
    month_calls: used.month.calls,
    month_tokens: used.month.tokens,
    month_money: used.month.money,
    day_unpriced: used.day.unpriced ?? 0,
    month_unpriced: used.month.unpriced ?? 0,
    holds: JSON.stringify(holds),
    paid: JSON.stringify(paid),
    expiresAt: new Date(endOfWindow('month', Date.parse(`${month}-01`)) + GRACE_PERIOD_MS),
  };
}

function toAccount(userId: string, document: BudgetDocument): BudgetAccount {
  const used = Object.fromEntries(
    BUDGET_WINDOWS.map((window) => [
      window,
      {
        calls: document[`${window}_calls`],
        tokens: document[`${window}_tokens`],
        money: document[`${window}_money`],
        ...unpricedOf(document[`${window}_unpriced`]),
      },
    ]),
  ) as Record<BudgetWindow, UsedAmount>;
  // `fromAccount` wrote these fields.
  const holds = JSON.parse(document.holds) as BudgetAccount['holds'];
  const paid = JSON.parse(document.paid) as BudgetAccount['paid'];
  return { userId, day: document.day, month: document.month, used, holds, paid };
}

/** Documents of earlier versions lack the number. */
function unpricedOf(unpriced = 0): Pick<UsedAmount, 'unpriced'> {
  return unpriced === 0 ? {} : { unpriced };
}
