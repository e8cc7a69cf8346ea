import { expect } from 'chai';
import { LLMServerError, StoreUnavailableError } from '../../../imports/business/ai/domain/errors/LLMErrors';
import { StoreLostError } from '../../../imports/business/ai/domain/errors/StoreLostError';
import { withoutOutages } from '../../../imports/log/withoutOutages';
import { RecordingLogger } from '../../support/RecordingLogger';

describe('withoutOutages', () => {
  it('logs what fails because of an outage of the store at the level debug only', () => {
    const recording = new RecordingLogger();
    const logger = withoutOutages(recording);
    const outage = new StoreUnavailableError('away');
    logger.error('The heartbeat failed.', outage);
    logger.warn('A run failed.', new LLMServerError('failed', { cause: outage }));
    logger.error('Usage was not stored.', new StoreLostError('lost'));
    logger.error('Something else failed.', new LLMServerError('failed'));
    logger.warn('A text.', 'away');
    expect([recording.debugs, recording.errors, recording.warnings]).to.deep.equal([
      ['The heartbeat failed.', 'A run failed.', 'Usage was not stored.'],
      ['Something else failed.'],
      ['A text.'],
    ]);
  });

  it('follows causes that are circular no further than it must', () => {
    const recording = new RecordingLogger();
    const error = new Error('a');
    error.cause = error;
    withoutOutages(recording).error('It failed.', error);
    expect(recording.errors).to.deep.equal(['It failed.']);
  });
});
