/** What `Telemetry` is replaced by where its cost is measured: nothing is observed. */
import type { ILLMProvider } from '../../imports/business/ai/domain/interfaces/ILLMProvider';
import type { RunInstrumentation } from '../../imports/business/ai/domain/interfaces/Instrumentation';

export class Telemetry implements RunInstrumentation {
  readonly metrics = { observe: (): void => undefined, addSink: (): void => undefined };

  /** Absent. */
  get runInstrumentation(): RunInstrumentation | undefined {
    return undefined;
  }

  traceProvider(provider: ILLMProvider): ILLMProvider {
    return provider;
  }

  ready(): undefined {
    return undefined;
  }

  beginRun(): undefined {
    return undefined;
  }

  currentTrace(): undefined {
    return undefined;
  }

  close(): void {
    // Nothing is open.
  }
}
