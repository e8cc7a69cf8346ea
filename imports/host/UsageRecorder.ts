/** Records the tokens that responses used, in the background. Failures are logged. */
import { consoleLogger } from '../log/consoleLogger';
import { runDetached } from '../business/ai/application/services/shared/runDetached';
import type { UsedTokens } from '../business/ai/domain/types/UsageRecords';
import type { ProvidersModule } from '../business/providers/infrastructure/factories/createProvidersModule';

export class UsageRecorder {
  private readonly write: ProvidersModule['recordUsage'];
  private readonly pending = new Set<Promise<void>>();

  constructor(write: ProvidersModule['recordUsage']) {
    this.write = write;
  }

  record({ providerId, userId, usage }: UsedTokens): void {
    const writing = runDetached(() => this.write({ providerId, userId, tokens: usage.total_tokens }));
    if (writing === undefined) return;
    const written = writing
      .catch((error: unknown) =>
        consoleLogger.error(
          `Could not record the tokens that user "${userId}" used at provider "${providerId}".`,
          error,
        ),
      )
      .finally(() => this.pending.delete(written));
    this.pending.add(written);
  }

  /** Resolves when everything so far has been recorded. */
  async flush(): Promise<void> {
    await Promise.all([...this.pending]);
  }

  /** Resolves when everything has been recorded. */
  async settled(): Promise<void> {
    while (this.pending.size > 0) await Promise.all(this.pending);
  }
}
