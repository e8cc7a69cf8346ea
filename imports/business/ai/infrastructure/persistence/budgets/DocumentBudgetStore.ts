/**
 * Budgets in a document collection, one document for each user: used amounts as fields for people to read, holds as
 * JSON.
 */
import { BUDGET_WINDOWS, endOfWindow } from '../../../domain/entities/BudgetAccount';
import type { Amount, BudgetAccount, BudgetWindow } from '../../../domain/entities/BudgetAccount';
import { isLLMError } from '../../../domain/errors/LLMErrors';
import type { BudgetStore, StoredBudget } from '../../../domain/interfaces/BudgetStore';
import type { DocumentCollection, StoredDocument } from '../../../domain/interfaces/DocumentCollection';

export const BUDGETS = 'ai_budgets';

export type BudgetDocument = StoredDocument & {
  readonly revision: number;
  readonly day: string;
  readonly month: string;
  /** JSON of what calls under way hold, and of the turns that were paid last. */
  readonly holds: string;
  readonly paid: string;
  readonly expiresAt: Date;
} & { readonly [F in `${BudgetWindow}_${keyof Amount}`]: number };

export type BudgetCollection = DocumentCollection<BudgetDocument>;

/** Milliseconds after its windows have ended; holds from before their end may still be settled. */
const KEPT_FOR = 86_400_000;

export class DocumentBudgetStore implements BudgetStore {
  private readonly collection: BudgetCollection;

  constructor(collection: BudgetCollection) {
    this.collection = collection;
  }

  /** Safe to call again. */
  async ready(): Promise<void> {
    await this.collection.ensureIndex({ expiresAt: 1 }, { expireAfterSeconds: 0 });
  }

  async find(userId: string): Promise<StoredBudget | undefined> {
    const document = await this.collection.findOne({ _id: idOf(userId) });
    return document === undefined ? undefined : { revision: document.revision, account: toAccount(userId, document) };
  }

  async replace(account: BudgetAccount, revision: number): Promise<boolean> {
    const _id = idOf(account.userId);
    const fields = { revision: revision + 1, ...fromAccount(account) };
    if (revision > 0) return (await this.collection.update({ _id, revision }, { $set: fields })) === 1;
    try {
      await this.collection.insert({ _id, ...fields });
      return true;
    } catch (error) {
      if (isLLMError(error) && error.code === 'conflict') return false;
      throw error;
    }
  }
}

/** Marked and escaped, since nobody chose users' ids with stores in mind. */
function idOf(userId: string): string {
  return `user/${encodeURIComponent(userId.toWellFormed())}`;
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
    holds: JSON.stringify(holds),
    paid: JSON.stringify(paid),
    expiresAt: new Date(endOfWindow('month', Date.parse(`${month}-01`)) + KEPT_FOR),
  };
}

function toAccount(userId: string, document: BudgetDocument): BudgetAccount {
  const used = Object.fromEntries(
    BUDGET_WINDOWS.map((window) => [
      window,
      { calls: document[`${window}_calls`], tokens: document[`${window}_tokens`], money: document[`${window}_money`] },
    ]),
  ) as Record<BudgetWindow, Amount>;
  // The boundary to the store: what stands in these fields was written above.
  const holds = JSON.parse(document.holds) as BudgetAccount['holds'];
  const paid = JSON.parse(document.paid) as BudgetAccount['paid'];
  return { userId, day: document.day, month: document.month, used, holds, paid };
}
