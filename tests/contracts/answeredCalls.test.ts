/** Calls in a history that are not answered as calls of functions are. */
import { expect } from 'chai';
import type { JsonObject, VendorName } from '../../imports/business/ai/domain/types/VendorTypes';
import type { InputItem } from '../../imports/business/ai/domain/types/ResponsesAPITypes';
import { createProvider } from '../../imports/business/ai/infrastructure/factories/createProvider';
import { simulatedRow, startGateway } from '../support/gateway';
import type { Gateway } from '../support/gateway';

const QUESTION = { type: 'message', role: 'user', content: 'What is new?' };
const X_SEARCH = {
  type: 'custom_tool_call',
  id: 'ctc_1',
  call_id: 'xs_call_40111111',
  name: 'x_keyword_search',
  input: '{"query":"news"}',
  status: 'completed',
};
const NEXT = { type: 'message', role: 'user', content: 'And before?' };

const inputOf = (body: unknown): readonly unknown[] => (body as { readonly input: readonly unknown[] }).input;

describe('A history', () => {
  let gateway: Gateway;
  before(async () => {
    gateway = await startGateway();
  });
  after(() => gateway.close());

  /** The bodies that the vendor received, through the gateway and from a provider. */
  const sent = async (
    vendor: VendorName,
    input: readonly JsonObject[],
    fields: JsonObject = {},
  ): Promise<unknown[]> => {
    const bodySent = (): unknown => gateway.simulator.requests.at(-1)?.body;
    const response = await gateway.request('/v1/responses', { model: vendor, input, ...fields });
    expect(response.status, await response.text()).to.equal(200);
    const byGateway = bodySent();
    const provider = createProvider(simulatedRow(gateway.simulator, vendor));
    await provider.generate('ann', { input: input as unknown as readonly InputItem[], wire: 'responses', ...fields });
    return [byGateway, bodySent()];
  };

  it("returns xAI's own searches of X to it as they were", async () => {
    for (const received of await sent('grok', [QUESTION, X_SEARCH, NEXT]))
      expect(inputOf(received)[1]).to.deep.equal(X_SEARCH);
  });

  it('does not offer another vendor the searches of xAI as calls without a result', async () => {
    for (const received of await sent('groq', [QUESTION, X_SEARCH, NEXT]))
      expect(JSON.stringify(received)).not.to.include('No result was recorded');
  });

  it("may answer a client's tool search as a call of a function", async () => {
    const search = {
      type: 'tool_search_call',
      id: 'tsc_1',
      call_id: 'call_1',
      execution: 'client',
      arguments: { goal: 'weather' },
      status: 'completed',
    };
    const result = { type: 'function_call_output', call_id: 'call_1', output: 'No tool was found.' };
    const tools = [
      { type: 'tool_search', execution: 'client', description: 'Finds tools.', parameters: { type: 'object' } },
    ];
    for (const received of await sent('openai', [QUESTION, search, result], { tools }))
      expect(inputOf(received).slice(1)).to.deep.equal([search, result]);
  });
});
