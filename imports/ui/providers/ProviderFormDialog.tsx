/** Adds a provider, or changes one. What a vendor does not need is not asked for. */
import { useState } from 'react';
import type { VendorInfo } from '../../business/ai/domain/types/ProviderViews';
import type { ProviderDetails } from '../../business/providers/domain/entities/ProviderDetails';
import { FormDialog } from '../components/form/FormDialog';
import { SelectField, TextAreaField, TextField } from '../components/form/fields';
import { useCommand } from '../components/useCommand';
import { useData } from '../hooks/BolideProvider';
import { AccessFields } from './AccessFields';
import { AuthFields } from './AuthFields';
import { ModelField } from './ModelField';
import { emptyForm, formOf, toCreateArgument, toUpdateArgument } from './providerFields';
import type { ProviderForm } from './providerFields';

/** Fields that show the server's objections themselves. */
const FIELD_PATHS = [
  'name',
  'providerId',
  'vendor',
  'auth',
  'apiKey',
  'baseURL',
  'deployment',
  'apiVersion',
  'wire',
  'defaultModel',
  'allowedModels',
  'sharedObjects',
  'hostedTools',
  'access',
  'limits',
];

export function ProviderFormDialog({
  vendors,
  provider,
  onClose,
}: {
  readonly vendors: readonly VendorInfo[];
  /** Undefined for a new one. */
  readonly provider?: ProviderDetails;
  readonly onClose: (savedId?: string) => void;
}) {
  const data = useData();
  const [before] = useState(() => (provider === undefined ? emptyForm('openai') : formOf(provider)));
  const [form, setForm] = useState<ProviderForm>(before);
  const command = useCommand();
  const { error } = command;
  const vendor = vendors.find((each) => each.vendor === form.vendor);
  const listed = data.useQuery(
    'ai.providers.models',
    provider === undefined ? undefined : { providerId: provider._id },
  );
  const offered = listed.state === 'ready' ? listed.value : { models: vendor?.models ?? [] };
  const change = (changes: Partial<ProviderForm>): void => setForm({ ...form, ...changes });
  const text = (name: keyof ProviderForm) => ({
    value: form[name],
    error,
    onChange: (value: string) => change({ [name]: value }),
  });
  const submit = (): void =>
    command.run(
      () =>
        provider === undefined
          ? data.call('ai.providers.create', toCreateArgument(form))
          : data.call('ai.providers.update', toUpdateArgument(form, before)),
      (saved) => onClose(saved._id),
    );
  return (
    <FormDialog
      title={provider === undefined ? 'Add provider' : `Edit ${provider.name}`}
      command={command}
      fields={FIELD_PATHS}
      action={provider === undefined ? 'Add provider' : 'Save'}
      isGrid
      onSubmit={submit}
      onClose={() => onClose()}
    >
      <SelectField
        label="Vendor"
        path="vendor"
        error={error}
        value={form.vendor}
        disabled={provider !== undefined}
        options={vendors.map(({ vendor: value, label }) => ({ value, label }))}
        onChange={(value) => change({ vendor: value as ProviderForm['vendor'], defaultModel: '', wire: '' })}
      />
      <TextField label="Name" path="name" required placeholder="Team account" {...text('name')} />
      {provider === undefined && (
        <TextField
          label="Id"
          path="providerId"
          hint="Part of model names, as in id/model. Generated from the name if empty."
          {...text('providerId')}
        />
      )}
      <AuthFields form={form} vendor={vendor} provider={provider} error={error} onChange={change} />
      {vendor !== undefined && (
        <TextField
          label="Base URL"
          path="baseURL"
          required={vendor.requiresBaseURL}
          placeholder={vendor.baseURL ?? 'https://…'}
          {...(vendor.requiresBaseURL ? {} : { hint: 'Only for a proxy or a compatible server.' })}
          {...text('baseURL')}
        />
      )}
      {vendor?.hasDeployments === true && (
        <>
          <TextField label="Deployment" path="deployment" {...text('deployment')} />
          <TextField label="API version" path="apiVersion" placeholder="v1" {...text('apiVersion')} />
        </>
      )}
      {vendor !== undefined && vendor.wires.length > 1 && (
        <SelectField
          label="Protocol"
          path="wire"
          error={error}
          value={form.wire}
          options={[
            { value: '', label: 'Automatic' },
            ...vendor.wires.map((wire) => ({ value: wire, label: WIRE_LABELS[wire] })),
          ]}
          onChange={(wire) => change({ wire })}
        />
      )}
      <ModelField
        value={form.defaultModel}
        models={offered.models}
        placeholder={vendor?.defaultModel}
        problem={'problem' in offered ? offered.problem : undefined}
        error={error}
        onChange={(defaultModel) => change({ defaultModel })}
      />
      <TextAreaField
        label="Allowed models"
        path="allowedModels"
        hint="One name per line. Empty: all models of the account."
        spellCheck={false}
        {...text('allowedModels')}
      />
      <TextAreaField
        label="Shared objects"
        path="sharedObjects"
        hint="Ids of vector stores, prompts and the like that everyone may use, one per line, or beginnings with *."
        spellCheck={false}
        {...text('sharedObjects')}
      />
      <TextAreaField
        label="Hosted tools"
        path="hostedTools"
        hint="Tools that run at the vendor, such as web_search, one per line. Empty: all; the word none: none."
        spellCheck={false}
        {...text('hostedTools')}
      />
      <AccessFields form={form} error={error} onChange={change} />
    </FormDialog>
  );
}

const WIRE_LABELS = {
  responses: 'Responses',
  chat_completions: 'Chat Completions',
  anthropic_messages: 'Messages',
  gemini: 'Gemini',
  interactions: 'Interactions',
} as const;
