/** What the AI module stores about one user, for its removal. */
import type { DocumentCollection, Selector, StoredDocument } from '../../../domain/interfaces/DocumentCollection';
import type { JobQueue } from '../../../domain/interfaces/JobQueue';
import { BUDGET_LIMITS } from '../budgets/DocumentBudgetLimits';
import { ROUTING_RULES } from '../routing/DocumentRoutingRules';
import { BUDGETS, budgetId } from '../budgets/DocumentBudgetStore';
import { MESSAGES } from '../conversations/DocumentConversationStore';
import { RESPONSE_CACHE } from '../cache/DocumentResponseCache';
import type { DocumentDatabase } from '../databases/DocumentDatabase';
import { FixedWindowLimiter, WINDOWS_COLLECTION } from '../rateLimits/FixedWindowLimiter';
import type { WindowDocument } from '../rateLimits/FixedWindowLimiter';
import { USER_LOADS, userLoadId } from '../rateLimits/DocumentUserLoads';
import { PROMPTS, removePromptsOf } from '../prompts/DocumentPromptStore';
import { JOB_STATES } from '../jobs/DocumentJobStates';
import { REQUEST_BODIES, REQUESTS } from '../requests/DocumentRequestStore';
import { CONVERSATION_ITEMS, CONVERSATIONS } from '../responses/DocumentResponseConversations';
import { RESPONSE_EVENTS } from '../responses/DocumentResponseEvents';
import { RESPONSES } from '../responses/DocumentResponseStore';
import { DELTAS_COLLECTION } from '../runs/LiveTextStore';
import { RUN_COMMANDS, RUNS, TOOL_CALLS } from '../runs/runDocuments';
import { STATS_COLLECTION } from '../runs/RunStatistics';
import { VENDOR_OBJECTS } from '../vendorObjects/DocumentVendorObjects';

/** Numbers of removed documents. */
export interface RemovedUserDocuments {
  readonly runs: number;
  readonly toolCalls: number;
  readonly liveTexts: number;
  readonly commands: number;
  readonly jobs: number;
  readonly statistics: number;
  readonly messages: number;
  readonly responses: number;
  readonly cachedResponses: number;
  readonly responseEvents: number;
  readonly conversations: number;
  readonly conversationItems: number;
  readonly requests: number;
  readonly requestBodies: number;
  readonly vendorObjects: number;
  readonly prompts: number;
  readonly budgets: number;
  readonly rateWindows: number;
}

/** Runs per batch. */
const BATCH_SIZE = 200;

export class UserDocuments {
  private readonly database: Pick<DocumentDatabase, 'collection'>;
  private readonly jobs: Pick<JobQueue, 'remove'>;

  constructor(database: Pick<DocumentDatabase, 'collection'>, jobs: Pick<JobQueue, 'remove'>) {
    this.database = database;
    this.jobs = jobs;
  }

  /** Can be repeated after an interruption. The user's runs must have ended. */
  async remove(userId: string): Promise<Omit<RemovedUserDocuments, 'budgets' | 'rateWindows'>> {
    const runs = await this.removeRuns(userId);
    await this.forgetAuthor(userId);
    return {
      ...runs,
      // Inserted by a former owner of a run that is gone.
      toolCalls: runs.toolCalls + (await this.collection(TOOL_CALLS).remove({ userId })),
      statistics: await this.collection(STATS_COLLECTION).remove({ userId }),
      messages: await this.collection(MESSAGES).remove({ userId }),
      responses: await this.collection(RESPONSES).remove({ userId }),
      cachedResponses: await this.collection(RESPONSE_CACHE).remove({ userId }),
      conversations: await this.collection(CONVERSATIONS).remove({ userId }),
      conversationItems: await this.collection(CONVERSATION_ITEMS).remove({ userId }),
      responseEvents: await this.collection(RESPONSE_EVENTS).remove({ userId }),
      requestBodies: await this.collection(REQUEST_BODIES).remove({ userId }),
      requests: await this.collection(REQUESTS).remove({ userId }),
      vendorObjects: await this.collection(VENDOR_OBJECTS).remove({ userId }),
      prompts: await removePromptsOf(this.database.collection(PROMPTS), userId),
    };
  }

  /** Removes the counters that enforce the user's limits. They hold numbers only and expire by themselves. */
  async removeLimits(userId: string): Promise<Pick<RemovedUserDocuments, 'budgets' | 'rateWindows'>> {
    const windows = new FixedWindowLimiter(this.database.collection<WindowDocument>(WINDOWS_COLLECTION), ['count']);
    return {
      budgets:
        (await this.collection(BUDGETS).remove({ _id: budgetId(userId) })) +
        (await this.collection(BUDGET_LIMITS).remove({ _id: budgetId(userId) })),
      rateWindows:
        (await windows.remove(([, owner]) => owner === userId)) +
        (await this.collection(USER_LOADS).remove({ _id: userLoadId(userId) })),
    };
  }

  /** What an admin has set stays; who set it does not. */
  private async forgetAuthor(userId: string): Promise<void> {
    const all = { multi: true };
    await this.collection(BUDGET_LIMITS).update({ changedBy: userId }, { $unset: { changedBy: true } }, all);
    await this.collection(ROUTING_RULES).update({ changedBy: userId }, { $unset: { changedBy: true } }, all);
    await this.collection(JOB_STATES).update({ pausedBy: userId }, { $unset: { pausedBy: true } }, all);
  }

  /** Each run goes last, after its parts, so that a repetition finds them by it. */
  private async removeRuns(
    userId: string,
  ): Promise<Pick<RemovedUserDocuments, 'runs' | 'toolCalls' | 'liveTexts' | 'commands' | 'jobs'>> {
    const removed = { runs: 0, toolCalls: 0, liveTexts: 0, commands: 0, jobs: 0 };
    for (;;) {
      const found = await this.collection(RUNS).find({ userId }, { limit: BATCH_SIZE, fields: { _id: 1 } });
      if (found.length === 0) return removed;
      const ids = found.map(({ _id }) => _id);
      const ofRuns: Selector = { executionId: { $in: ids } };
      removed.jobs += await this.jobs.remove(ids);
      removed.commands += await this.collection(RUN_COMMANDS).remove(ofRuns);
      removed.liveTexts += await this.collection(DELTAS_COLLECTION).remove(ofRuns);
      removed.toolCalls += await this.collection(TOOL_CALLS).remove(ofRuns);
      removed.runs += await this.collection(RUNS).remove({ _id: { $in: ids } });
    }
  }

  private collection(name: string): DocumentCollection<StoredDocument> {
    return this.database.collection(name);
  }
}
