/** Writes down what answers used without keeping them waiting; what can't be written is told to the log. */
import type { UsedTokens } from '../business/ai/domain/types/UsageRecords';
import type { ProvidersModule } from '../business/providers/infrastructure/factories/createProvidersModule';

export class UsageRecorder {
  private readonly write: ProvidersModule['recordUsage'];
  private readonly underWay = new Set<Promise<void>>();

  constructor(write: ProvidersModule['recordUsage']) {
    this.write = write;
  }

  record({ providerId, userId, usage }: UsedTokens): void {
    const written = this.write({ providerId, userId, tokens: usage.total_tokens })
      .catch((error: unknown) => console.error(`what ${userId} used of ${providerId} could not be written down`, error))
      .finally(() => this.underWay.delete(written));
    this.underWay.add(written);
  }

  /** Resolves when nothing is on its way any more. */
  async settled(): Promise<void> {
    while (this.underWay.size > 0) await Promise.all(this.underWay);
  }
}
