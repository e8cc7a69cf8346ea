/** Why a form or a command failed, announced when it appears. */
export function FormError({ error }: { readonly error: string | undefined }) {
  if (error === undefined) return null;
  return (
    <p className="form-error" role="alert">
      {error}
    </p>
  );
}
