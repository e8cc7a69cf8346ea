/** What a user's own account does to a shared provider: nothing. */
import { expect } from 'chai';
import type { Credential } from '../../../../../imports/business/ai/domain/interfaces/CredentialSource';
import { LLMConnectionError, LLMError } from '../../../../../imports/business/ai/domain/errors/LLMErrors';
import type { Simulator } from '../../../../../imports/simulator/Simulator';
import { startSimulator } from '../../../../../imports/simulator/startSimulator';
import { SIMULATED_VENDORS, simulatedProvider } from '../../../../support/simulatedProviders';

const REFUSAL = { error: { message: 'No.', type: 'some_error' } };

describe('a failure of', () => {
  let simulator: Simulator;
  before(async () => {
    simulator = await startSimulator();
  });
  after(() => simulator.close());

  const failureWith = async (getAccessToken: () => Promise<Credential>): Promise<LLMError> => {
    const [vendor] = SIMULATED_VENDORS;
    const provider = simulatedProvider(simulator, vendor!, { credentials: { getAccessToken } });
    const error = await provider.generate('ann', { input: 'Hi' }).catch((thrown: unknown) => thrown);
    if (error instanceof LLMError) return error;
    throw new Error('the call did not fail', { cause: error });
  };
  const key = (isOwn: boolean) => () => Promise.resolve({ kind: 'api_key', token: 'sk-test', isOwn } as const);

  it('the user’s token endpoint is no failure of the vendor', async () => {
    const failure = await failureWith(() => Promise.reject(new LLMConnectionError('The token endpoint is down.')));
    expect(failure).to.include({ code: 'connection-failed', isOfCredential: true });
  });

  for (const status of [401, 429])
    it(`the user’s own account is the user’s: ${status}`, async () => {
      simulator.enqueue({ status, body: REFUSAL });
      expect(await failureWith(key(true))).to.have.property('isOfCredential', true);
    });

  it('an account that users share is everyone’s', async () => {
    simulator.enqueue({ status: 429, body: REFUSAL });
    expect(await failureWith(key(false))).to.include({ code: 'rate-limited', isOfCredential: undefined });
  });

  it('the vendor is the vendor’s, whoever calls it', async () => {
    simulator.enqueue({ status: 500, body: REFUSAL });
    expect(await failureWith(key(true))).to.include({ code: 'vendor-error', isOfCredential: undefined });
  });
});
