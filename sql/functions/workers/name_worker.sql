-- Purpose     Make a name for a worker that people can say and remember: an adjective and a noun, always the same for
--             the same id. Two of 200 workers may have one name; then their ids tell them apart.
-- Parameters  worker_id
-- Returns     the name, such as brave-otter
-- Errors      none
-- Tables      none
create or replace function leasehold.name_worker(worker_id text) returns text language plpgsql immutable parallel safe
set search_path = leasehold, pg_catalog, pg_temp as $$
declare
    c_adjectives constant text[] := string_to_array(
        'able agile airy amber apt avid azure blithe bold brave breezy bright brisk calm candid careful cheery chipper civil clear clever cosy cool '
        || 'crisp curious daring dapper deft eager early earnest easy fair fast fine firm fleet fond frank free fresh gentle glad golden good grand '
        || 'great green happy hardy hearty honest humble ideal jolly jovial just keen kind lively loyal lucky lunar mellow merry mighty mild modest neat '
        || 'nimble noble patient placid polite prime proud pure quick quiet rapid ready regal robust rosy royal rustic sage serene sharp shiny silent '
        || 'silver simple sleek smart smooth snug sober solid spry stable steady still stout strong subtle sunny super sure swift tender thrifty tidy '
        || 'trim true upbeat urban valiant vivid warm wise witty young zesty', ' ');
    c_nouns      constant text[] := string_to_array(
        'acorn alder anchor ant apple arrow aspen badger bamboo barley basil beacon bear beaver bee birch bison breeze brook cabin canyon cedar '
        || 'cherry cliff cloud clover cobra comet coral cove crane creek cricket crow daisy deer delta dingo dolphin dove dune eagle elk elm ember '
        || 'falcon fawn fern finch fjord forest fox frog gale garnet gecko geyser ginger glacier goose grove gull harbor hare harp hawk hazel hedge '
        || 'heron hill horse ibis iris island ivy jade jay juniper kestrel kite koala lagoon lake lark laurel lemon lemur lily linden lion lizard llama '
        || 'lotus lynx magpie maple marten meadow mesa minnow moose moss moth nectar newt oak ocean olive orchid osprey otter owl panda parrot peach '
        || 'pebble pelican pine plover pony poplar puffin quail quartz rabbit raven reef river robin sable salmon seal sequoia shore sloop sparrow '
        || 'spruce starling stork stream swallow swan tapir teal thistle thrush tiger topaz toucan trout tulip turtle valley violet walnut walrus weasel '
        || 'whale willow wolf wombat wren yak zebra', ' ');
    v_hash       constant text := md5(name_worker.worker_id);
begin
    return c_adjectives[1 + ('x' || substr(v_hash, 1, 7))::bit(28)::integer % cardinality(c_adjectives)] || '-'
        || c_nouns[1 + ('x' || substr(v_hash, 8, 7))::bit(28)::integer % cardinality(c_nouns)];
end
$$;
