import { getMe } from '../../lib/contract/me.ts';
import { serve } from '../../lib/http/serve.ts';
import { isSimulated } from '../../lib/model/answering-model.ts';

export const handler = serve(getMe, async ({ caller }) => {
  const { organization, tokenId: id, tokenName: name, tokenCreatedAt: createdAt, scopes } = caller;
  return { organization, token: { id, name, createdAt }, scopes: [...scopes], simulatedModel: isSimulated() };
});
