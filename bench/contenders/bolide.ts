/** Bolide from its TypeScript sources, bundled. */
import { DEFAULT_TRANSPORT_LIMITS } from '../../imports/business/ai/domain/types/VendorTypes';
import type { SchemeName } from '../../imports/business/ai/domain/types/VendorTypes';
import { normalizeInput } from '../../imports/business/ai/application/services/ContentNormalizer';
import { createGuardedFetch } from '../../imports/business/ai/infrastructure/clients/http/guardedFetch';
import { createAIModule } from '../../imports/business/ai/infrastructure/factories/createAIModule';
import { streamWithBufferedFunctions } from '../../imports/business/ai/infrastructure/streaming/streamWithBufferedFunctions';
import { ToolRegistry } from '../../imports/business/ai/infrastructure/tools/ToolRegistry';
import { MODELS } from '../Contender';
import type { Contender, Setting } from '../Contender';
import type { HistoryItem } from '../histories';
import type { BenchWire } from '../workloads';
import { bolide } from './application';

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

export function create(setting: Setting): Contender {
  const contender = bolide({ createAIModule, ToolRegistry }, setting);
  return {
    ...contender,
    transcode: transcode(setting.wire, setting.baseURL),
    resend: {
      prepare: (history) => normalizeInput(history) as readonly HistoryItem[],
      send: contender.send,
    },
  };
}

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
