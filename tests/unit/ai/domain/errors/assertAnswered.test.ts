import { expect } from 'chai';
import { unansweredError } from '../../../../../imports/business/ai/domain/errors/assertAnswered';
import { response } from '../../../../../imports/testing/responses';

describe('unansweredError', () => {
  const messageOf = (finish_reason: string): string | undefined => {
    const cut = response({ status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } });
    return unansweredError({ ...cut, vendor: { ...cut.vendor, finish_reason } })?.message;
  };

  it('advises a higher limit for a response that reached its own', () => {
    for (const reason of ['max_output_tokens', 'max_tokens', 'length'])
      expect(messageOf(reason)).to.match(/Raise max_output_tokens/);
  });

  it('advises a shorter conversation for a response that filled the context window', () => {
    for (const reason of ['model_context_window_exceeded', 'model_length'])
      expect(messageOf(reason))
        .to.match(/context window/)
        .and.not.to.match(/max_output_tokens/);
  });
});
