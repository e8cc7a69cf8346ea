/** What the tests of SDKs have in common: their vendors, and tables of cases by method. */
import { VENDORS } from '../../../imports/business/ai/domain/types/VendorTypes';
import type { VendorName } from '../../../imports/business/ai/domain/types/VendorTypes';
import { startGateway } from '../gateway';
import type { Gateway } from '../gateway';
import { expect } from 'chai';
import { IS_SOAK, sampled } from '../soak';

/** One vendor behind the gateway. */
export interface SdkContext {
  readonly gateway: Gateway;
  readonly vendor: VendorName;
  /** The model as clients name it: `provider/model`. */
  readonly model: string;
  /** The body of the last request that the vendor received, as JSON. */
  readonly lastBody: () => string;
}

export type SdkCase = (context: SdkContext) => Promise<void>;

/** Cases by what they verify, by the SDK's method, such as `chat.completions.create`. */
export type SdkCases = Readonly<Record<string, Readonly<Record<string, SdkCase>>>>;

export const MODELS: Readonly<Record<VendorName, string>> = {
  openai: 'gpt-5-mini',
  azure_openai: 'gpt-5-mini',
  anthropic: 'claude-sonnet-4-5',
  google: 'gemini-2.5-flash',
  grok: 'grok-4',
  groq: 'openai/gpt-oss-120b',
  llama: 'llama-3.3',
  openai_compatible: 'some-model',
};

export const WEATHER_SCHEMA = {
  type: 'object' as const,
  properties: { city: { type: 'string' as const } },
  required: ['city'],
  additionalProperties: false as const,
};

/** Two calls in one turn, and the texts of their results. */
export const WEATHER_CALLS = [
  { name: 'get_weather', arguments: { city: 'Zürich' } },
  { name: 'get_weather', arguments: { city: 'Lima' } },
] as const;
export const weatherIn = (city: string): string => `It is sunny in ${city}.`;
export const WEATHER_RESULTS = WEATHER_CALLS.map((call) => weatherIn(call.arguments.city));

/** A picture of one pixel. */
export const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

/** In `npm test`, one vendor of each wire. */
export const SDK_VENDORS: readonly VendorName[] = IS_SOAK ? VENDORS : ['openai', 'anthropic', 'google', 'groq'];

/**
 * A test for each case and vendor, in `npm test` for a sample of them, with a gateway of its own. Every response of a
 * vendor is scripted.
 */
export function describeSdk(name: string, cases: SdkCases): void {
  describe(name, () => {
    const all = Object.entries(cases).flatMap(([method, casesOfMethod]) =>
      Object.entries(casesOfMethod).flatMap(([title, run]) =>
        SDK_VENDORS.map((vendor) => ({ method, title, run, vendor })),
      ),
    );
    for (const { method, title, run, vendor } of sampled(all, (each) => [
      `${each.method} ${each.title}`,
      `${each.method.split('.')[0]} ${each.vendor}`,
    ]))
      it(`${method} ${title} (${vendor})`, async () => {
        const gateway = await startGateway();
        try {
          const lastBody = (): string => JSON.stringify(gateway.simulator.requests.at(-1)?.body);
          await run({ gateway, vendor, model: `${vendor}/${MODELS[vendor]}`, lastBody });
          for (const request of gateway.simulator.requests)
            if (request.wire !== undefined) expect(request.vendor).to.equal(vendor);
          expect(gateway.unexpected).to.deep.equal([]);
          gateway.simulator.assertDone();
        } finally {
          await gateway.close();
        }
      });
  });
}
