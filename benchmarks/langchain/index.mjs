/**
 * Ingests a folder of texts with LangChain JS, as its documentation shows it: load, split, `index()` into Weaviate. Prints one line
 * of JSON: chunks and seconds, the model being loaded beforehand.
 *
 * Environment: FOLDER, MODEL (folder of the model), WEAVIATE_HTTP_PORT, WEAVIATE_GRPC_PORT, COLLECTION, BATCH_SIZE (empty: default).
 */
import { basename, dirname } from 'node:path';
import { env as transformers } from '@huggingface/transformers';
import { DirectoryLoader } from '@langchain/classic/document_loaders/fs/directory';
import { TextLoader } from '@langchain/classic/document_loaders/fs/text';
import { HuggingFaceTransformersEmbeddings } from '@langchain/community/embeddings/huggingface_transformers';
import { InMemoryRecordManager } from '@langchain/community/indexes/memory';
import { index } from '@langchain/core/indexing';
import { RecursiveCharacterTextSplitter } from '@langchain/textsplitters';
import { WeaviateStore } from '@langchain/weaviate';
import weaviate from 'weaviate-client';

const { FOLDER, MODEL, WEAVIATE_HTTP_PORT, WEAVIATE_GRPC_PORT, COLLECTION, BATCH_SIZE } = process.env;

// The store prints a line for each batch.
console.log = () => {};

transformers.localModelPath = dirname(dirname(MODEL));
transformers.allowRemoteModels = false;
const embeddings = new HuggingFaceTransformersEmbeddings({
  model: `${basename(dirname(MODEL))}/${basename(MODEL)}`,
  pretrainedOptions: { dtype: 'q8' },
});
const client = await weaviate.connectToLocal({
  host: '127.0.0.1',
  port: Number(WEAVIATE_HTTP_PORT),
  grpcPort: Number(WEAVIATE_GRPC_PORT),
});
const vectorStore = await WeaviateStore.initialize(embeddings, {
  client,
  indexName: COLLECTION,
  textKey: 'text',
  metadataKeys: ['source'],
});
const recordManager = new InMemoryRecordManager();
await recordManager.createSchema();
await embeddings.embedQuery('A first text, so that the model is loaded.');

const began = performance.now();
const loaded = await new DirectoryLoader(FOLDER, { '.txt': (path) => new TextLoader(path) }).load();
const docsSource = await new RecursiveCharacterTextSplitter().splitDocuments(loaded);
const { numAdded } = await index({
  docsSource,
  recordManager,
  vectorStore,
  options: { cleanup: 'full', sourceIdKey: 'source', ...(BATCH_SIZE ? { batchSize: Number(BATCH_SIZE) } : {}) },
});
const seconds = (performance.now() - began) / 1000;
await client.collections.delete(COLLECTION);
await client.close();
process.stdout.write(`${JSON.stringify({ chunks: numAdded, seconds })}\n`);
