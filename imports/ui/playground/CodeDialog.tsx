/** The conversation with a model and its next message as code. */
import { useId, useState } from 'react';
import { CodeBlock } from '../components/CodeBlock';
import { Dialog } from '../components/Dialog';
import { Icon } from '../components/Icon';
import { newRequestId } from '../conversations/newRequestId';
import type { CodeRequest } from './codeRequest';
import { toCurl } from './toCurl';
import { toTypeScript } from './toTypeScript';

const FORMS = { typescript: 'TypeScript', curl: 'curl' } as const;

export interface CodeDialogProps {
  readonly request: CodeRequest;
  readonly onClose: () => void;
}

export function CodeDialog({ request, onClose }: CodeDialogProps) {
  const id = useId();
  const [form, setForm] = useState<keyof typeof FORMS>('typescript');
  const [requestId] = useState(newRequestId);
  const code = form === 'typescript' ? toTypeScript(request) : toCurl(request, requestId);
  return (
    <Dialog label="View as code" className="playground-dialog" onClose={onClose}>
      <div className="dialog-head">
        <h2>View as code</h2>
        <button type="button" className="icon-button" aria-label="Close" onClick={onClose}>
          <Icon name="cross" />
        </button>
      </div>
      <div className="dialog-body">
        <div className="chips" role="group" aria-label="Language">
          {(Object.keys(FORMS) as (keyof typeof FORMS)[]).map((each) => (
            <button
              key={each}
              type="button"
              className="chip"
              aria-pressed={each === form}
              onClick={() => setForm(each)}
            >
              {FORMS[each]}
            </button>
          ))}
        </div>
        <CodeBlock key={form} text={code} label={`the code in ${FORMS[form]}`} isVerbatim />
        <p id={`${id}-hint`} className="muted">
          {form === 'typescript'
            ? 'Runs in a program of its own, with the vendor’s key in its environment.'
            : 'Calls this server. BOLIDE_API_TOKEN is an API token of it.'}{' '}
          {request.messages.some(({ attachments }) => attachments.length > 0) &&
            'Images and files are read from the folder in which it runs.'}
        </p>
      </div>
    </Dialog>
  );
}
