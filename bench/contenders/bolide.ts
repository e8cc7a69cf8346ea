/**
 * Bolide as an application uses it, with every feature on: argument checks, events, the state machine, limits, the
 * retry policy, and run records.
 */
import { createAIModule } from '../../imports/business/ai/infrastructure/factories/createAIModule';
import { streamWithBufferedFunctions } from '../../imports/business/ai/infrastructure/streaming/streamWithBufferedFunctions';
import { createGuardedFetch } from '../../imports/business/ai/infrastructure/clients/http/guardedFetch';
import { DEFAULT_TRANSPORT_LIMITS } from '../../imports/business/ai/domain/types/VendorTypes';
import type { LLMInput } from '../../imports/business/ai/domain/types/LLMTypes';
import type { SchemeName } from '../../imports/business/ai/domain/types/VendorTypes';
import { ToolRegistry } from '../../imports/business/ai/infrastructure/tools/ToolRegistry';
import { MODELS, TOOL, weather } from '../Contender';
import type { Contender, Setting } from '../Contender';
import type { BenchWire } from '../workloads';

const SCHEME: Readonly<Record<BenchWire, SchemeName>> = {
  openai: 'openai_responses',
  anthropic: 'anthropic',
  chat: 'openai',
};
const PATHS: Readonly<Record<BenchWire, string>> = {
  openai: '/responses',
  anthropic: '/v1/messages',
  chat: '/chat/completions',
};

export function create({ wire, baseURL, workload }: Setting): Contender {
  const vendor = wire === 'anthropic' ? 'anthropic' : 'openai';
  const model = `${vendor}/${MODELS[wire]}`;
  const tools = new ToolRegistry().register(workload.needs === 'idle' ? ENDLESS : { ...TOOL, execute: weather });
  const { manager, loop, useCases } = createAIModule(
    {
      providers: [
        {
          id: vendor,
          vendor,
          apiKey: 'bench',
          baseURL,
          allowPrivateHosts: true,
          ...(wire === 'chat' ? { wire: 'chat_completions' } : {}),
        },
      ],
    },
    { tools },
  );
  const actor = { userId: 'bench', source: 'job' } as const;
  let requests = 0;
  return {
    ask: async (input) => (await manager.generate('bench', { model, input })).output_text,
    async stream(input) {
      let length = 0;
      for await (const event of manager.stream('bench', { model, input }))
        if (event.type === 'response.output_text.delta') length += event.delta.length;
      return length;
    },
    async loop(input) {
      requests += 1;
      const request = {
        requestId: `request-${requests}`,
        providerId: vendor,
        model: MODELS[wire],
        input,
        tools: [TOOL.name],
        maxIterations: 100,
      };
      return (await useCases.agenticExecution.execute(actor, request)).output_text;
    },
    convert: async (history) =>
      (
        await manager.generate('bench', {
          model,
          input: JSON.parse(history) as LLMInput,
          tools: [{ type: 'function', ...TOOL }],
        })
      ).output_text,
    transcode: transcode(wire, baseURL),
    async idle(input) {
      await loop.execute('bench', { model, input, tools: [TOOL.name], onPending: 'return' });
    },
  };
}

/** A non-blocking tool whose result never arrives. */
const ENDLESS = { ...TOOL, blocking: false, timeout: 3_600_000, execute: () => new Promise(() => undefined) };

function transcode(wire: BenchWire, baseURL: string): (question: string) => Promise<number> {
  const fetch = createGuardedFetch({ limits: DEFAULT_TRANSPORT_LIMITS, allowPrivateHosts: true });
  const headers = { 'content-type': 'application/json', authorization: 'Bearer bench' };
  return async (question) => {
    const response = await fetch(baseURL + PATHS[wire], {
      method: 'POST',
      headers,
      body: JSON.stringify({ model: MODELS[wire], messages: [{ role: 'user', content: question }], stream: true }),
    });
    let length = 0;
    for await (const [line] of streamWithBufferedFunctions(response.body, {
      sourceScheme: SCHEME[wire],
      targetScheme: 'openai',
    }))
      length += line.length;
    return length;
  };
}
