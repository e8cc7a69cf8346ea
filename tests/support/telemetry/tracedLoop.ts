/** A loop over two scripted providers, the second of which is the fallback, that reports to OpenTelemetry. */
import { AgenticLoop } from '../../../imports/business/ai/application/services/AgenticLoop';
import { LLMManager } from '../../../imports/business/ai/application/services/LLMManager';
import type { Logger } from '../../../imports/business/ai/domain/interfaces/Logger';
import type { RunStore } from '../../../imports/business/ai/domain/interfaces/RunStore';
import { Telemetry } from '../../../imports/business/ai/infrastructure/telemetry/Telemetry';
import type { TelemetrySettings } from '../../../imports/business/ai/infrastructure/telemetry/Telemetry';
import type { ToolRegistry } from '../../../imports/business/ai/infrastructure/tools/ToolRegistry';
import { ScriptedProvider } from '../../../imports/testing/ScriptedProvider';
import type { ScriptedStep } from '../../../imports/testing/ScriptedProvider';
import { RecordingLogger } from '../RecordingLogger';

export interface TracedLoopOptions {
  readonly tools: ToolRegistry;
  readonly steps: readonly ScriptedStep[];
  readonly fallbackSteps?: readonly ScriptedStep[];
  readonly settings?: TelemetrySettings;
  readonly store?: RunStore;
  /** Default: the lines are kept from the output. */
  readonly logger?: Logger;
}

export interface TracedLoop {
  readonly loop: AgenticLoop;
  readonly manager: LLMManager;
  readonly telemetry: Telemetry;
}

export function tracedLoop({
  tools,
  steps,
  fallbackSteps = [],
  settings = {},
  store,
  ...options
}: TracedLoopOptions): TracedLoop {
  const telemetry = new Telemetry(settings, { vendorOf: (id) => id });
  const { logger = new RecordingLogger() } = options;
  const manager = new LLMManager({
    providers: { openai: new ScriptedProvider(steps), anthropic: new ScriptedProvider(fallbackSteps) },
    fallback: ['anthropic'],
    retry: { maxAttempts: 1 },
    instrumentation: telemetry,
    logger,
  });
  const loop = new AgenticLoop({
    provider: manager,
    toolExecutor: tools,
    instrumentation: telemetry,
    logger,
    ...(store === undefined ? {} : { runStore: store }),
  });
  return { loop, manager, telemetry };
}
