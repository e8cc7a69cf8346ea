/** Remembers a text that the user writes. */
import { useState } from 'react';
import { FormDialog } from '../components/form/FormDialog';
import { TextAreaField } from '../components/form/fields';
import { useCommand } from '../components/useCommand';
import { useData } from '../hooks/BolideProvider';

export function MemoryDialog({ onClose }: { readonly onClose: () => void }) {
  const data = useData();
  const command = useCommand();
  const [text, setText] = useState('');
  return (
    <FormDialog
      title="New memory"
      command={command}
      fields={['text']}
      action="Save memory"
      isIncomplete={text.trim() === ''}
      onSubmit={() => command.run(() => data.call('ai.memory.save', { text }), onClose)}
      onClose={onClose}
    >
      <TextAreaField
        label="Text"
        path="text"
        error={command.error}
        hint="One fact, such as a preference or a name. No passwords: models read it."
        rows={4}
        value={text}
        onChange={setText}
      />
    </FormDialog>
  );
}
