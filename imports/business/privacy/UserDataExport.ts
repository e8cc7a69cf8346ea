/** Exports everything that a host stores about a user. */
import { LLMInvalidRequestError, LLMRateLimitError } from '../ai/domain/errors/LLMErrors';
import type { UserDataPage } from './domain/UserDataPage';
import type { DocumentDatabase } from '../../database/DocumentDatabase';
import { FixedWindowLimiter, WINDOWS_COLLECTION } from '../../database/FixedWindowLimiter';
import type { WindowDocument } from '../../database/FixedWindowLimiter';
import { UserDataReader } from './infrastructure/UserDataReader';
import { SYSTEM_OWNER } from '../providers/domain/entities/Provider';
import type { UserDocumentKind } from '../../database/StoredCollection';

export interface UserDataExportPorts {
  readonly database: Pick<DocumentDatabase, 'collection'>;
  readonly kinds: readonly UserDocumentKind[];
  /** Writes what is in memory. */
  readonly flush: () => Promise<void>;
}

/** Exports of one user's data, whoever asks for them. */
const MAX_EXPORTS = 10;
const WINDOW_MS = 3_600_000;

export class UserDataExport {
  private readonly reader: UserDataReader;
  private readonly limiter: FixedWindowLimiter;
  private readonly flush: UserDataExportPorts['flush'];

  constructor({ database, kinds, flush }: UserDataExportPorts) {
    this.reader = new UserDataReader(database, kinds);
    this.limiter = new FixedWindowLimiter(database.collection<WindowDocument>(WINDOWS_COLLECTION), ['count']);
    this.flush = flush;
  }

  /**
   * What is stored meanwhile may or may not be in it.
   * @param after the `next` of the page before
   * @throws LLMInvalidRequestError; LLMRateLimitError for the first page of an eleventh export in an hour
   */
  readonly exportUserData = async (userId: string, after?: string): Promise<UserDataPage> => {
    checkUserId(userId);
    if (after === undefined) {
      const waitMs = await this.limiter.admit(['export', userId], { count: MAX_EXPORTS }, WINDOW_MS);
      if (waitMs > 0)
        throw new LLMRateLimitError(
          `The data of a user can be exported ${MAX_EXPORTS} times an hour. Try again later.`,
          {
            retryAfterMs: waitMs,
          },
        );
      await this.flush();
    }
    return this.reader.page(userId, after);
  };

  /** For the app's own code, which has no limit. @throws LLMInvalidRequestError */
  async *lines(userId: string): AsyncGenerator<string> {
    checkUserId(userId);
    await this.flush();
    for (let page = await this.reader.page(userId); ; page = await this.reader.page(userId, page.next)) {
      yield* page.lines;
      if (page.next === undefined) return;
    }
  }
}

function checkUserId(userId: unknown): void {
  if (typeof userId !== 'string' || userId === '' || userId === SYSTEM_OWNER)
    throw new LLMInvalidRequestError('"userId" must be the id of a user.', { path: 'userId' });
}
