/** Reports the progress of a call to its client, if that asked for it: rising, and not too often. */
import type { ServerContext } from '@modelcontextprotocol/server';
import type { Logger } from '../../ai/domain/interfaces/Logger';
import { omitUndefined } from '../../ai/domain/util/omitUndefined';

/** Milliseconds between two notifications. */
const INTERVAL_MS = 250;

export class ProgressNotifier {
  private readonly ctx: Pick<ServerContext, 'mcpReq'>;
  private readonly logger: Logger;
  private readonly token: string | number | undefined;
  private last = -1;
  private lastAt = -Infinity;
  private latest: readonly [number, string | undefined] | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private sent: Promise<void> = Promise.resolve();
  private hasEnded = false;

  constructor(ctx: Pick<ServerContext, 'mcpReq'>, logger: Logger) {
    this.ctx = ctx;
    this.logger = logger;
    this.token = ctx.mcpReq._meta?.progressToken;
  }

  /** @param fraction from 0 to 1 */
  report(fraction: number, note: string | undefined): void {
    // https://modelcontextprotocol.io/specification/2025-11-25/basic/utilities/progress: it must increase.
    if (this.hasEnded || this.token === undefined || fraction <= this.last) return;
    this.latest = [fraction, note];
    const wait = this.lastAt + INTERVAL_MS - performance.now();
    if (wait <= 0) this.flush();
    else this.timer ??= setTimeout(() => this.flush(), wait);
  }

  /** Resolves when everything is sent: nothing is reported after the result. */
  async end(): Promise<void> {
    this.hasEnded = true;
    if (this.latest !== undefined) this.flush();
    clearTimeout(this.timer);
    await this.sent;
  }

  private flush(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    if (this.token === undefined || this.latest === undefined) return;
    const [progress, message] = this.latest;
    this.latest = undefined;
    this.last = progress;
    this.lastAt = performance.now();
    const params = omitUndefined({ progressToken: this.token, progress, total: 1, message });
    const sent = this.ctx.mcpReq
      .notify({ method: 'notifications/progress', params })
      .catch((error: unknown) => this.logger.debug('MCP: progress could not be reported.', error));
    this.sent = Promise.all([this.sent, sent]).then(() => undefined);
  }
}
