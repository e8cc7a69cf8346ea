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

describe('RelayEncoder', () => {
  for (const wire of WIRES) {
    it(`ends a ${wire} stream that breaks with one error, without restarting it`, () => {
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

    it(`ends a ${wire} stream with the vendor's own error, secrets redacted`, () => {
      const relay = relayOf(wire);
      relay.push({ type: 'wire.message', wire, event: undefined, data: '{}' });
      const body = {
        type: 'error',
        error: { type: 'overloaded_error', message: 'Too much.', details: [{ brand_new: 1 }] },
        brand_new: { key: 'sk-0123456789abcdef' },
      };
      const redacted = { ...body, brand_new: { key: '[redacted]' } };
      expect(relay.fail(vendorError({ vendor: 'v', body }))).to.deep.equal([
        `event: error\ndata: ${JSON.stringify(redacted)}\n\n`,
      ]);
    });

    it(`encodes an error before the ${wire} stream has started like any other`, () => {
      const error = new LLMOverloadedError('Too much.');
      expect(relayOf(wire).fail(error)).to.deep.equal(
        createStreamEncoder(SCHEME_OF_WIRE[wire], { model: 'm', id: 'id', created: 1 }).fail(error),
      );
    });
  }

  it('does not accept the Responses API, whose events are numbered', () => {
    // @ts-expect-error: our error event would restart the numbering at 0
    const wire: RelayOptions['wire'] = 'responses';
    expect(wire).to.equal('responses');
  });
});
