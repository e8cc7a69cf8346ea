/** Turns every recorded response into a stream of every scheme, and checks its meaning and the scheme's grammar. */
import { expect } from 'chai';
import { replayResponse } from '../../imports/business/ai/application/services/shared/replayResponse';
import type { LLMResponse } from '../../imports/business/ai/domain/types/ResponsesAPITypes';
import { SCHEME_OF_WIRE } from '../../imports/business/ai/domain/types/VendorTypes';
import { createStreamEncoder } from '../../imports/business/ai/infrastructure/streaming/createStreamEncoder';
import { modelOf } from '../support/recordings';
import { CHECKS } from '../support/streamGrammar';
import {
  completedIn,
  CREATED,
  decodeText,
  DEFAULT_VENDOR,
  meaningOf,
  responseOf,
  SCHEME_NAMES,
  STREAMS,
  wireOf,
} from '../support/transcoding';

for (const recording of STREAMS)
  describe(`${recording.name}, replayed`, () => {
    for (const target of SCHEME_NAMES)
      it(`has the same meaning in ${target}`, async () => {
        const response = await responseOf(recording);
        if (response === undefined) {
          expect(recording.name, 'a recording without a response').to.match(/stream-error/);
          return;
        }
        // The response comes from the cache in this form.
        const stored = JSON.parse(JSON.stringify(response)) as LLMResponse;
        const encoder = createStreamEncoder(target, {
          id: 'id',
          model: modelOf(recording),
          created: CREATED,
          includeUsage: true,
        });
        const frames = [...replayResponse(stored)].flatMap((event) => encoder.push(event));
        const text = [...frames, ...encoder.end()].join('');
        CHECKS[target](text);
        const isOwn = SCHEME_OF_WIRE[recording.wire] === target;
        const vendor = isOwn ? recording.vendor : DEFAULT_VENDOR[target];
        const back = completedIn(await decodeText(wireOf(target), text, vendor, modelOf(recording)));
        expect(meaningOf(back)).to.deep.equal(meaningOf(stored));
      });
  });
