import { expect } from 'chai';
import { RelayEncoder } from '../../../../../imports/api/gateway/generation/RelayEncoder';
import type { RelayOptions } from '../../../../../imports/api/gateway/generation/RelayEncoder';
import type { StatelessWire } from '../../../../../imports/api/gateway/generation/GatewayApi';
import { LLMOverloadedError, LLMStreamError } from '../../../../../imports/business/ai/domain/errors/LLMErrors';
import { vendorError } from '../../../../../imports/business/ai/domain/errors/vendorErrors';
import { SCHEME_OF_WIRE } from '../../../../../imports/business/ai/domain/types/VendorTypes';
import { createStreamEncoder } from '../../../../../imports/business/ai/infrastructure/streaming/createStreamEncoder';

const WIRES: readonly StatelessWire[] = ['chat_completions', 'anthropic_messages', 'gemini'];

function relayOf(wire: StatelessWire): RelayEncoder {
  return new RelayEncoder({
    wire,
    encoder: createStreamEncoder(SCHEME_OF_WIRE[wire], { model: 'm', id: 'id', created: 1 }),
    hidesUsage: false,
  });
}

describe('a relayed stream', () => {
  for (const wire of WIRES) {
    it(`of ${wire} that breaks gets one error after what was told, and nothing begins anew`, () => {
      const relay = relayOf(wire);
      expect(relay.push({ type: 'wire.message', wire, event: undefined, data: '{"type":"brand_new"}' })).to.deep.equal([
        'data: {"type":"brand_new"}\n\n',
      ]);
      expect(relay.push({ type: 'response.created', id: 'a', model: 'm' })).to.deep.equal([]);
      const frames = relay.fail(new LLMStreamError('It broke.'));
      expect(frames).to.have.length(1);
      expect(frames[0]).to.match(/^(?:event: error\n)?data: \{[^\n]*"message":"It broke\."/);
      expect(relay.end()).to.deep.equal([]);
    });

    it(`of ${wire} ends with its host's own error, whatever is in it`, () => {
      const relay = relayOf(wire);
      relay.push({ type: 'wire.message', wire, event: undefined, data: '{}' });
      const body = {
        type: 'error',
        error: { type: 'overloaded_error', message: 'Too much.', details: [{ brand_new: 1 }] },
        brand_new: { key: 'sk-0123456789abcdef' },
      };
      const told = { ...body, brand_new: { key: '[redacted]' } };
      expect(relay.fail(vendorError({ vendor: 'v', body }))).to.deep.equal([
        `event: error\ndata: ${JSON.stringify(told)}\n\n`,
      ]);
    });

    it(`of ${wire} that has not begun is told as any other`, () => {
      const error = new LLMOverloadedError('Too much.');
      expect(relayOf(wire).fail(error)).to.deep.equal(
        createStreamEncoder(SCHEME_OF_WIRE[wire], { model: 'm', id: 'id', created: 1 }).fail(error),
      );
    });
  }

  it('is never one of the Responses API, whose events are numbered', () => {
    // @ts-expect-error: an error of ours would be numbered from 0 again
    const wire: RelayOptions['wire'] = 'responses';
    expect(wire).to.equal('responses');
  });
});
