/** The guardrails that Bolide has itself. */
import { defineSettings, setting } from '../../host/settings/defineSettings';
import { json } from '../../host/settings/settingReaders';
import { createGuardrails } from './createGuardrails';

export const guardrailSettings = defineSettings({
  guardrails: setting('GUARDRAILS', json('JSON, such as {"pii":{}}', createGuardrails), 'none').means(
    'The [guardrails](../guides/guardrails.md#built-in) to turn on, as JSON. In `Meteor.settings.ai` also as an object.',
  ),
});
